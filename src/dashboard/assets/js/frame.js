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

// A page that stays open tells how long ago things are now, in the words of the server.
const span = (ms) => {
  const [minutes, hours, days] = [60_000, 3_600_000, 86_400_000].map((unit) => Math.round(ms / unit))
  if (ms < 3_600_000) return `${Math.max(1, minutes)} min`
  if (ms < 86_400_000) return `${hours} h`
  if (days < 90) return days === 1 ? '1 day' : `${days} days`
  return `${Math.round(days / 30)} mo`
}
const tellTimes = () => {
  for (const time of document.querySelectorAll('time[data-relative]')) {
    const ms = Date.now() - Date.parse(time.dateTime)
    const words = ms < 0 ? `in ${span(-ms)}` : ms < 60_000 ? 'just now' : `${span(ms)} ago`
    if (time.textContent !== words) time.textContent = words
  }
}
setInterval(tellTimes, 60_000)

// Going back shows what the address says, not what a control was last set to.
window.addEventListener('pageshow', (event) => {
  if (!event.persisted) return
  for (const form of document.querySelectorAll('form[method="get"]')) form.reset()
})
