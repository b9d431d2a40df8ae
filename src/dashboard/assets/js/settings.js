// Comfort for the settings: the filter answers while one types. Without this file it answers to Enter.
for (const page of document.querySelectorAll('[data-settings]')) {
  const field = page.querySelector('[data-settings-filter]')
  const none = document.createElement('p')
  none.className = 'muted'
  none.textContent = 'No setting fits.'
  none.hidden = true
  page.lastElementChild.append(none)

  field.addEventListener('input', () => {
    const wanted = field.value.trim().toLowerCase()
    for (const row of page.querySelectorAll('[data-setting]')) row.hidden = !row.dataset.setting.includes(wanted)
    const groups = [...page.querySelectorAll('.setting-group')]
    for (const group of groups) {
      group.hidden = !group.querySelector('[data-setting]:not([hidden])')
      page.querySelector(`a[href="#${group.id}"]`).parentElement.hidden = group.hidden
    }
    none.hidden = groups.some((group) => !group.hidden)
  })
}
