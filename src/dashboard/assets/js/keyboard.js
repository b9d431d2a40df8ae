// Single-key shortcuts. A page ignores keys that do not apply to it.
const STORAGE_KEY = 'faultboard.shortcuts'
/** Time for the second key of a sequence such as `g o`. */
const SEQUENCE_MS = 1_500
const MENUS = { e: 'resolve', a: 'assign', s: 'snooze', m: 'mute' }
const help = document.querySelector('#shortcuts')
let enabled = readSetting() !== 'off'
let pendingSequence = null
let lastRow = null

setUpSwitch()

// Runs in the capture phase, before Esc closes an open menu.
document.addEventListener(
  'keydown',
  (event) => {
    if (event.ctrlKey || event.altKey || event.metaKey || event.isComposing) return
    if (event.key === 'Escape') handleEscape(event.target)
    else if (enabled && !isTyping(event.target) && !document.querySelector('dialog[open]') && handleKey(event)) {
      event.preventDefault()
    }
  },
  true,
)

// Handles commands of the palette, which also works without single-key shortcuts.
document.addEventListener('shortcut', (event) => handleKey({ key: event.detail, target: document.body }))

/** Returns true if the key was handled. */
function handleKey({ key, target }) {
  if (key === '?') return toggleHelp()
  if (help?.matches(':popover-open')) return false
  if (pendingSequence !== null) return navigateTo(key)
  if (key === 'g') return startSequence()
  if (key === 'j' || key === 'k') return moveFocus(key === 'j' ? 1 : -1)
  if (key === 'o' || (key === 'Enter' && !target.closest('a, button, summary'))) return openRow()
  if (key === 'x') return toggleRow()
  if (key === '/') return focusField('#search') || openPalette()
  if (key === 'c') return focusField('.comment-form textarea')
  return clickButton(key) || (Object.hasOwn(MENUS, key) && openMenu(MENUS[key]))
}

/** Actions of the error page that need no input. */
function clickButton(key) {
  const button = /^[a-z]$/.test(key) && document.querySelector(`button[data-key="${key}"]`)
  if (button) button.click()
  return Boolean(button)
}

function isTyping(target) {
  return target.matches?.('textarea, select, input:not([type="checkbox"], [type="radio"]), [contenteditable]') ?? false
}

function moveFocus(step) {
  const rows = [...document.querySelectorAll('[data-row]')]
  if (rows.length === 0) return openNeighbor(step)
  const from = rows.indexOf(currentRow())
  const next = from < 0 ? 0 : Math.min(rows.length - 1, Math.max(0, from + step))
  lastRow = rows[next]
  lastRow.querySelector('[data-row-link]').focus()
  lastRow.scrollIntoView({ block: 'nearest' })
  return true
}

/** Opens the next or previous error of the list from which the current error was opened. */
function openNeighbor(step) {
  const link = document.querySelector(`.error-beside [rel="${step > 0 ? 'next' : 'prev'}"]`)
  link?.click()
  return Boolean(link)
}

/** Returns the focused row, or the last focused row. */
function currentRow() {
  return document.activeElement?.closest('[data-row]') ?? (lastRow?.isConnected ? lastRow : null)
}

function openRow() {
  const link = currentRow()?.querySelector('[data-row-link]')
  link?.click()
  return Boolean(link)
}

function toggleRow() {
  const box = currentRow()?.querySelector('[data-select-row]')
  box?.click()
  return Boolean(box)
}

function focusField(selector) {
  const field = document.querySelector(selector)
  if (!field) return false
  field.focus()
  field.select()
  return true
}

/** Opens the palette, which finds errors on pages without a search box. */
function openPalette() {
  const button = document.querySelector('[data-open-palette]')
  button?.click()
  return Boolean(button)
}

/** Opens an action menu. In a list without a selection, selects the current row first. */
function openMenu(id) {
  const menu = document.querySelector(`details#${id}`)
  if (!menu) return false
  if (
    document.querySelector('[data-select-row]') &&
    !document.querySelector('[data-select-row]:checked') &&
    !toggleRow()
  ) {
    return false
  }
  // A menu may be nested in another menu.
  const outer = menu.parentElement.closest('details.menu')
  if (outer) outer.open = true
  menu.open = true
  // Moves the focus immediately, so that the next key reaches the field and not the row.
  menu.querySelector('input:not([type=hidden]), select, textarea')?.focus()
  return true
}

function startSequence() {
  pendingSequence = setTimeout(() => {
    pendingSequence = null
  }, SEQUENCE_MS)
  return true
}

/** Follows a sidebar link, which keeps the selected application. */
function navigateTo(key) {
  clearTimeout(pendingSequence)
  pendingSequence = null
  const link = [...document.querySelectorAll('#rail a[data-go]')].find(({ dataset }) => dataset.go === key)
  if (link) location.assign(link.href)
  return Boolean(link)
}

function toggleHelp() {
  help?.togglePopover()
  return Boolean(help)
}

/** Esc leaves a field, then clears the selection. The browser closes menus and the help. */
function handleEscape(target) {
  if (target.matches?.('[role="combobox"][aria-expanded="true"]')) return
  if (document.querySelector('details.menu[open], dialog[open]') || help?.matches(':popover-open')) return
  if (isTyping(target)) return target.blur()
  const clearButton = document.querySelector('[data-clear-selection]')
  if (document.querySelector('[data-select-row]:checked')) clearButton?.click()
}

function setUpSwitch() {
  const label = help?.querySelector('[data-shortcuts-switch]')
  const box = label?.querySelector('input')
  if (!box) return
  label.hidden = false
  box.checked = enabled
  box.addEventListener('change', () => {
    enabled = box.checked
    storeSetting(enabled ? 'on' : 'off')
  })
}

function readSetting() {
  try {
    return localStorage.getItem(STORAGE_KEY)
  } catch {
    // Storage is disabled.
    return null
  }
}

function storeSetting(value) {
  try {
    localStorage.setItem(STORAGE_KEY, value)
  } catch {
    // Storage is disabled; the setting applies to this page only.
  }
}
