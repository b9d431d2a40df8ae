// Enhances the list. The list works without it.
for (const form of document.querySelectorAll('form[data-filters]')) submitOnChange(form)
for (const list of document.querySelectorAll('[data-list]')) enableSelection(list)

function submitOnChange(form) {
  const button = form.querySelector('[data-apply]')
  let byKeyboard = false
  button.hidden = true

  for (const select of form.querySelectorAll('[data-submit-on-change]')) {
    select.addEventListener('pointerdown', () => {
      byKeyboard = false
    })
    select.addEventListener('keydown', (event) => {
      byKeyboard = true
      if (event.key === 'Enter') form.requestSubmit()
    })
    // Arrow keys fire a change event for every option they pass, so keyboard users submit with the button.
    select.addEventListener('change', () => {
      if (byKeyboard) button.hidden = false
      else form.requestSubmit()
    })
  }

  // Omits empty filters from the URL.
  form.addEventListener('submit', () => {
    const empty = [...form.elements].filter((field) => field.name && field.value === '')
    for (const field of empty) field.disabled = true
    setTimeout(() => {
      for (const field of empty) field.disabled = false
    })
  })
}

function enableSelection(list) {
  const boxes = [...list.querySelectorAll('[data-select-row]')]
  const all = list.querySelector('[data-select-all]')
  const bar = list.querySelector('[data-batch]')
  const count = list.querySelector('[data-selected-count]')
  const clearButton = list.querySelector('[data-clear-selection]')
  const matching = list.querySelector('[data-select-matching]')
  const matchingBox = matching?.querySelector('input')
  if (!bar || boxes.length === 0) return
  let last = null

  function refresh() {
    const selected = boxes.filter((box) => box.checked).length
    all.checked = selected === boxes.length
    all.indeterminate = selected > 0 && selected < boxes.length
    if (matching) {
      matching.hidden = !all.checked
      matchingBox.checked &&= all.checked
    }
    count.textContent = matchingBox?.checked ? 'All matching errors selected' : `${selected} selected`
    bar.hidden = selected === 0
    bar.open = selected > 0
    list.classList.toggle('has-selection', selected > 0)
  }

  list.classList.add('is-live')
  all.closest('[hidden]').hidden = false
  all.addEventListener('change', () => {
    for (const box of boxes) box.checked = all.checked
    refresh()
  })
  for (const [index, box] of boxes.entries()) {
    box.addEventListener('click', (event) => {
      if (event.shiftKey && last !== null) {
        const [from, to] = [Math.min(last, index), Math.max(last, index)]
        for (const other of boxes.slice(from, to + 1)) other.checked = box.checked
      }
      last = index
      refresh()
    })
  }
  matchingBox?.addEventListener('change', refresh)
  clearButton.hidden = false
  clearButton.addEventListener('click', () => {
    for (const box of boxes) box.checked = false
    refresh()
    boxes[last ?? 0].focus()
  })
  // Makes the whole row clickable.
  for (const row of list.querySelectorAll('[data-row]')) {
    row.addEventListener('click', (event) => {
      if (event.ctrlKey || event.metaKey || event.target.closest('a, button, input, label')) return
      row.querySelector('[data-row-link]').click()
    })
  }
  // All actions share one form, so Enter must trigger the button of the current menu.
  bar.addEventListener('keydown', (event) => {
    if (event.key !== 'Enter' || !event.target.matches('input')) return
    event.preventDefault()
    event.target.closest('details').querySelector('button[type="submit"]').click()
  })
  // Browsers restore checkboxes on Back after this script ran.
  window.addEventListener('pageshow', refresh)
  refresh()
}
