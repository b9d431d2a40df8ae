// Comfort only: everything works without this file.

// A menu closes by Esc and by a click elsewhere.
const openMenus = () => document.querySelectorAll('details.menu[open]')
document.addEventListener('click', (event) => {
  for (const menu of openMenus()) if (!menu.contains(event.target)) menu.open = false
})
document.addEventListener('keydown', (event) => {
  if (event.key !== 'Escape') return
  for (const menu of openMenus()) {
    menu.open = false
    menu.querySelector('summary').focus()
  }
})

// Whoever opens a menu wants its first field.
document.addEventListener(
  'toggle',
  (event) => {
    const menu = event.target
    if (!menu.matches?.('details.menu[open]')) return
    menu.querySelector('.menu-panel input:not([type=hidden]), .menu-panel select, .menu-panel textarea')?.focus()
  },
  true,
)

// What cannot be undone is asked for once more.
document.addEventListener('click', (event) => {
  const button = event.target.closest?.('button[data-confirm]')
  if (button && !window.confirm(button.dataset.confirm)) event.preventDefault()
})
