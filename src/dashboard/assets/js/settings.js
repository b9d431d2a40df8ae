// Filters the settings while typing. Without this script, the filter applies on Enter.
for (const page of document.querySelectorAll('[data-settings]')) {
  const field = page.querySelector('[data-settings-filter]')
  const emptyNote = document.createElement('p')
  emptyNote.className = 'muted'
  emptyNote.textContent = 'No settings match.'
  emptyNote.hidden = true
  page.lastElementChild.append(emptyNote)

  field.addEventListener('input', () => {
    const query = field.value.trim().toLowerCase()
    for (const row of page.querySelectorAll('[data-setting]')) row.hidden = !row.dataset.setting.includes(query)
    const groups = [...page.querySelectorAll('.setting-group')]
    for (const group of groups) {
      group.hidden = !group.querySelector('[data-setting]:not([hidden])')
      page.querySelector(`a[href="#${group.id}"]`).parentElement.hidden = group.hidden
    }
    emptyNote.hidden = groups.some((group) => !group.hidden)
  })
}
