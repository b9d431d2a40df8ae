// Command palette: pages, actions on the current error, and errors by id or text.
const SEARCH_DELAY_MS = 250
const MAX_ERRORS = 6
const palette = document.querySelector('#palette')

if (palette) {
  const input = palette.querySelector('input')
  const list = palette.querySelector('#commands')
  const commands = [...list.children]
  let searchTimer = null
  let searched = ''

  document.addEventListener('keydown', (event) => {
    if (event.key !== 'k' || !(event.ctrlKey || event.metaKey) || event.altKey || event.shiftKey) return
    event.preventDefault()
    if (palette.open) palette.close()
    else openPalette()
  })
  document.addEventListener('click', (event) => {
    if (event.target.closest?.('[data-open-palette]')) openPalette()
    else if (event.target === palette) palette.close()
  })
  input.addEventListener('input', () => {
    filter()
    clearTimeout(searchTimer)
    searchTimer = setTimeout(findErrors, SEARCH_DELAY_MS)
  })
  input.addEventListener('keydown', (event) => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key]
    if (step) select(visible().indexOf(selected()) + step)
    else if (event.key === 'Enter' && !event.isComposing) run(selected())
    else return
    event.preventDefault()
  })
  list.addEventListener('click', (event) => run(event.target.closest('[role="option"]')))

  function openPalette() {
    document.querySelector('#rail:popover-open')?.hidePopover()
    if (!palette.open) palette.showModal()
    input.value = ''
    filter()
    input.focus()
  }

  /** Shows commands that contain all words, and entries for the typed text. */
  function filter() {
    const text = input.value.trim()
    const words = text.toLowerCase().split(/\s+/)
    for (const command of commands) {
      const { needs } = command.dataset
      const label = command.firstElementChild.textContent.toLowerCase()
      command.hidden = (needs && !document.querySelector(needs)) || !words.every((word) => label.includes(word))
    }
    for (const entry of list.querySelectorAll('[data-typed]')) entry.remove()
    searched = ''
    const id = /^(?:#|[\w-]*-)?(\d{1,15})$/.exec(text)?.[1]
    // The error may not belong to the selected application or environment.
    if (id) addEntry(`Open error ${id}`, errorPath(id).replace(/\?.*/, ''))
    if (text) addEntry(`Search errors for ${text}`, withParameter(palette.dataset.errors, 'query', text))
    select(0)
  }

  /** Adds the newest matching errors below the entry for the search, which stays selected. */
  async function findErrors() {
    const text = input.value.trim()
    if (!palette.open || text.length < 3 || text === searched) return
    searched = text
    const url = withParameter(palette.dataset.errors.replace(/\/errors(?=\?|$)/, '/errors.json'), 'query', text)
    try {
      const response = await fetch(withParameter(url, 'per_page', MAX_ERRORS))
      if (!response.ok || text !== input.value.trim()) return
      const { errors } = await response.json()
      for (const { id, error_type, message } of errors) {
        addEntry(`${error_type}: ${message.slice(0, 200)}`, errorPath(id))
      }
    } catch {
      // The host is unreachable. The entry for the search remains.
    }
  }

  function addEntry(text, href) {
    const entry = commands[0].cloneNode()
    const label = document.createElement('bdi')
    label.textContent = text
    entry.id = `typed-${list.children.length}`
    entry.hidden = false
    entry.setAttribute('aria-selected', 'false')
    entry.dataset.typed = ''
    entry.dataset.href = href
    delete entry.dataset.key
    delete entry.dataset.needs
    entry.append(label)
    list.append(entry)
  }

  function errorPath(id) {
    const url = new URL(palette.dataset.errors, location.origin)
    return `${url.pathname}/${id}${url.search}`
  }

  function withParameter(path, name, value) {
    const url = new URL(path, location.origin)
    url.searchParams.set(name, value)
    return url.pathname + url.search
  }

  function visible() {
    return [...list.children].filter((entry) => !entry.hidden)
  }

  function selected() {
    return list.querySelector('[aria-selected="true"]')
  }

  function select(index) {
    const entries = visible()
    const next = entries[(index + entries.length) % entries.length]
    for (const entry of list.children) entry.setAttribute('aria-selected', String(entry === next))
    if (next) input.setAttribute('aria-activedescendant', next.id)
    else input.removeAttribute('aria-activedescendant')
    next?.scrollIntoView({ block: 'nearest' })
  }

  function run(entry) {
    if (!entry) return
    palette.close()
    const { href, key } = entry.dataset
    if (href) location.assign(href)
    else document.dispatchEvent(new CustomEvent('shortcut', { detail: key }))
  }
}
