// Single keys for those who like them; a page without what a key is for ignores it.
const REMEMBERED_AS = 'faultboard.shortcuts'
const SEQUENCE_MS = 1_500
const PLACES = { o: '/overview', e: '/errors', s: '/settings' }
const MENUS = { e: 'resolve', a: 'assign', s: 'snooze' }
const help = document.querySelector('#shortcuts')
let enabled = remembered() !== 'off'
let goesTo = null
let lastRow = null

offerSwitch()

// In the capture phase, so that a menu which Esc is about to close is still open here.
document.addEventListener(
  'keydown',
  (event) => {
    if (event.ctrlKey || event.altKey || event.metaKey || event.isComposing) return
    if (event.key === 'Escape') leave(event.target)
    else if (enabled && !isTyping(event.target) && !document.querySelector('dialog[open]') && act(event)) {
      event.preventDefault()
    }
  },
  true,
)

/** Whether the key meant something here. */
function act({ key, target }) {
  if (key === '?') return toggleHelp()
  if (help?.matches(':popover-open')) return false
  if (goesTo !== null) return go(key)
  if (key === 'g') return awaitPlace()
  if (key === 'j' || key === 'k') return move(key === 'j' ? 1 : -1)
  if (key === 'o' || (key === 'Enter' && !target.closest('a, button, summary'))) return open()
  if (key === 'x') return choose()
  if (key === '/') return search()
  return Object.hasOwn(MENUS, key) && openMenu(MENUS[key])
}

function isTyping(target) {
  return target.matches?.('textarea, select, input:not([type="checkbox"], [type="radio"]), [contenteditable]') ?? false
}

function move(by) {
  const rows = [...document.querySelectorAll('[data-row]')]
  if (rows.length === 0) return false
  const from = rows.indexOf(currentRow())
  const next = from < 0 ? 0 : Math.min(rows.length - 1, Math.max(0, from + by))
  lastRow = rows[next]
  lastRow.querySelector('[data-row-link]').focus()
  lastRow.scrollIntoView({ block: 'nearest' })
  return true
}

/** The row that has the focus, or had it last. */
function currentRow() {
  return document.activeElement?.closest('[data-row]') ?? (lastRow?.isConnected ? lastRow : null)
}

function open() {
  const link = currentRow()?.querySelector('[data-row-link]')
  link?.click()
  return Boolean(link)
}

function choose() {
  const box = currentRow()?.querySelector('[data-choose]')
  box?.click()
  return Boolean(box)
}

function search() {
  const field = document.querySelector('#search')
  if (!field) return false
  field.focus()
  field.select()
  return true
}

/** In a list the menus are about the chosen rows, and about the current one when none is chosen. */
function openMenu(id) {
  const menu = document.querySelector(`details#${id}`)
  if (!menu) return false
  if (document.querySelector('[data-choose]') && !document.querySelector('[data-choose]:checked') && !choose()) {
    return false
  }
  menu.open = true
  return true
}

function awaitPlace() {
  goesTo = setTimeout(() => {
    goesTo = null
  }, SEQUENCE_MS)
  return true
}

/** Along the links of the rail, which know the application that is looked at. */
function go(key) {
  clearTimeout(goesTo)
  goesTo = null
  const path = Object.hasOwn(PLACES, key) && `${document.body.dataset.base}${PLACES[key]}`
  const link = [...document.querySelectorAll('#rail a')].find(({ pathname }) => pathname === path)
  if (link) location.assign(link.href)
  return Boolean(link)
}

function toggleHelp() {
  help?.togglePopover()
  return Boolean(help)
}

/** Menus and the help close by themselves; without one, Esc leaves the field, then lets the chosen rows go. */
function leave(target) {
  if (document.querySelector('details.menu[open]') || help?.matches(':popover-open')) return
  if (isTyping(target)) return target.blur()
  const none = document.querySelector('[data-choose-none]')
  if (document.querySelector('[data-choose]:checked')) none?.click()
}

function offerSwitch() {
  const label = help?.querySelector('[data-shortcuts-switch]')
  const box = label?.querySelector('input')
  if (!box) return
  label.hidden = false
  box.checked = enabled
  box.addEventListener('change', () => {
    enabled = box.checked
    remember(enabled ? 'on' : 'off')
  })
}

function remembered() {
  try {
    return localStorage.getItem(REMEMBERED_AS)
  } catch {
    // A browser that keeps nothing for us.
    return null
  }
}

function remember(value) {
  try {
    localStorage.setItem(REMEMBERED_AS, value)
  } catch {
    // It then holds for this page only.
  }
}
