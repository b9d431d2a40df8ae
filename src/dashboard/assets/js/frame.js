// Enhances the layout of all pages. The pages work without it.

// Closes menus on Esc and on a click outside. Excludes the filter toggle, whose controls are outside of the element.
const openMenus = () => document.querySelectorAll('details[name=menu][open]')
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

// Focuses the first field of an opened menu. Selects the text of a field that filters a list, so that typing replaces it.
document.addEventListener(
  'toggle',
  (event) => {
    const menu = event.target
    if (!menu.matches?.('details.menu[open], details.submenu[open]')) return
    const field = menu.querySelector('input:not([type=hidden]), select, textarea')
    field?.focus()
    if (field?.dataset.filters) field.select()
  },
  true,
)

// Scrolls the current tab of a narrow screen into view. Does not move the page, unlike `scrollIntoView`.
for (const tab of document.querySelectorAll('.tabs [aria-current]')) {
  const row = tab.parentElement
  row.scrollLeft +=
    tab.getBoundingClientRect().left - row.getBoundingClientRect().left - (row.clientWidth - tab.offsetWidth) / 2
}

// Enter starts a new line in a text area. Ctrl+Enter or Cmd+Enter submits its form.
document.addEventListener('keydown', (event) => {
  if (event.key !== 'Enter' || !(event.ctrlKey || event.metaKey) || !event.target.matches?.('textarea')) return
  event.target.form?.requestSubmit()
})

// Confirms destructive actions.
document.addEventListener('click', (event) => {
  const button = event.target.closest?.('button[data-confirm]')
  if (button && !window.confirm(button.dataset.confirm)) event.preventDefault()
})

// Updates relative times, formatted as on the server.
const formatSpan = (ms) => {
  const [minutes, hours, days] = [60_000, 3_600_000, 86_400_000].map((unit) => Math.round(ms / unit))
  if (ms < 3_600_000) return `${Math.max(1, minutes)} min`
  if (ms < 86_400_000) return `${hours} h`
  if (days < 90) return days === 1 ? '1 day' : `${days} days`
  return `${Math.round(days / 30)} mo`
}
const updateTimes = () => {
  for (const time of document.querySelectorAll('time[data-relative]')) {
    const ms = Date.now() - Date.parse(time.dateTime)
    const text = ms < 0 ? `in ${formatSpan(-ms)}` : ms < 60_000 ? 'just now' : `${formatSpan(ms)} ago`
    if (time.textContent !== text) time.textContent = text
  }
}
setInterval(updateTimes, 60_000)

// Shows exact times in the viewer's time zone, formatted as on the server, with UTC on hover.
const formatIn = (timeZone) => {
  const { format } = new Intl.DateTimeFormat('en-GB', { dateStyle: 'medium', timeStyle: 'medium', timeZone })
  return (time) => `${format(new Date(time.dateTime))} ${timeZone}`
}
const formatLocal = formatIn(Intl.DateTimeFormat().resolvedOptions().timeZone)
const formatUtc = formatIn('UTC')
const timeOfDay = new Intl.DateTimeFormat('en-GB', {
  hour: '2-digit',
  minute: '2-digit',
  second: '2-digit',
  fractionalSecondDigits: 3,
})
const localizeTimes = () => {
  for (const time of document.querySelectorAll('time[data-of-day][data-local]')) {
    // The second line of the tooltip is a note.
    time.title = [formatUtc(time), ...time.title.split('\n').slice(1)].join('\n')
    time.textContent = timeOfDay.format(new Date(time.dateTime))
  }
  for (const time of document.querySelectorAll('time[data-exact][data-local]')) {
    time.title = formatUtc(time)
    time.textContent = formatLocal(time)
  }
  for (const element of document.querySelectorAll('[data-named-time]')) {
    const [, dateTime, shown] = /^(\S+) (.*)$/.exec(element.dataset.namedTime)
    const [local, utc] = [formatLocal({ dateTime }), formatUtc({ dateTime })]
    const tooltip = (text) => [text.replace(shown, local), ...(local === utc ? [] : [utc])].join('\n')
    const title = element.querySelector(':scope > title')
    if (title) title.textContent = tooltip(title.textContent)
    else element.title = tooltip(element.title)
    if (element.ariaLabel) element.ariaLabel = element.ariaLabel.replace(shown, local)
    delete element.dataset.namedTime
  }
}
localizeTimes()
document.addEventListener('content-replaced', localizeTimes)
// Formats times on hover only, because a page has hundreds of times and live updates add more.
document.addEventListener('pointerover', (event) => {
  const time = event.target.closest?.('time[data-relative][data-local]')
  if (time) time.title = [...new Set([formatLocal(time), formatUtc(time)])].join('\n')
})

// Resets filters after Back, so that they match the URL.
window.addEventListener('pageshow', (event) => {
  if (!event.persisted) return
  for (const form of document.querySelectorAll('form[method="get"]')) form.reset()
})
