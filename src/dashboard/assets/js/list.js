// Comfort for the list: everything works without this file.
for (const form of document.querySelectorAll('form[data-filters]')) applyAtOnce(form)
for (const list of document.querySelectorAll('[data-list]')) chooseRows(list)

function applyAtOnce(form) {
  const button = form.querySelector('[data-apply]')
  let byKeyboard = false
  button.hidden = true

  for (const select of form.querySelectorAll('[data-at-once]')) {
    select.addEventListener('pointerdown', () => {
      byKeyboard = false
    })
    select.addEventListener('keydown', (event) => {
      byKeyboard = true
      if (event.key === 'Enter') form.requestSubmit()
    })
    // With the arrow keys every option on the way is a change; only the person knows which is the last.
    select.addEventListener('change', () => {
      if (byKeyboard) button.hidden = false
      else form.requestSubmit()
    })
  }

  // What is not set does not belong into the address.
  form.addEventListener('submit', () => {
    const empty = [...form.elements].filter((field) => field.name && field.value === '')
    for (const field of empty) field.disabled = true
    setTimeout(() => {
      for (const field of empty) field.disabled = false
    })
  })
}

function chooseRows(list) {
  const boxes = [...list.querySelectorAll('[data-choose]')]
  const all = list.querySelector('[data-choose-all]')
  const bar = list.querySelector('[data-batch]')
  const count = list.querySelector('[data-chosen-count]')
  const none = list.querySelector('[data-choose-none]')
  if (!bar || boxes.length === 0) return
  let last = null

  function refresh() {
    const chosen = boxes.filter((box) => box.checked).length
    all.checked = chosen === boxes.length
    all.indeterminate = chosen > 0 && chosen < boxes.length
    count.textContent = `${chosen} chosen`
    bar.hidden = chosen === 0
    bar.open = chosen > 0
    list.classList.toggle('has-chosen', chosen > 0)
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
  none.hidden = false
  none.addEventListener('click', () => {
    for (const box of boxes) box.checked = false
    refresh()
    boxes[last ?? 0].focus()
  })
  // The whole row opens, also where a hint on hover lies above its link.
  for (const row of list.querySelectorAll('[data-row]')) {
    row.addEventListener('click', (event) => {
      if (event.ctrlKey || event.metaKey || event.target.closest('a, button, input, label')) return
      row.querySelector('[data-row-link]').click()
    })
  }
  // One form holds all that can be done to the chosen, so Enter must mean the button beside the field.
  bar.addEventListener('keydown', (event) => {
    if (event.key !== 'Enter' || !event.target.matches('input')) return
    event.preventDefault()
    event.target.closest('details').querySelector('button[type="submit"]').click()
  })
  // A browser restores the boxes on the way back, after this ran.
  window.addEventListener('pageshow', refresh)
  refresh()
}
