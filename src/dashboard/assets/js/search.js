// Suggests keys and values while a query is typed. The field works without this script.
const MAX_SUGGESTIONS = 8
/** Shorter words would suggest values of every key. */
const MIN_VALUE_LENGTH = 2

for (const field of document.querySelectorAll('[data-suggestions]')) {
  enableSuggestions(field)
  if (field.dataset.problemPosition) selectProblem(field)
}
for (const list of document.querySelectorAll('datalist[data-tags]')) enableTagSuggestions(list)

/** Returns null if the server is unreachable. */
async function fetchTags({ tags }, start) {
  const url = new URL(tags, location.href)
  url.searchParams.set('start', start)
  const response = await fetch(url).catch(() => null)
  return response?.ok ? response.json() : null
}

/** Selects a malformed query from the position of the problem to the end. */
function selectProblem(field) {
  const { value, dataset } = field
  // The position is in code points, but the selection is in UTF-16 code units.
  const start = [...value].slice(0, dataset.problemPosition - 1).join('').length
  field.focus()
  field.setSelectionRange(start, value.length)
}

/** Suggests tags for a field in which a colon follows the key. */
function enableTagSuggestions(list) {
  const field = document.querySelector(`[list="${list.id}"]`)
  async function load() {
    const { value } = field
    const found = await fetchTags(list.dataset, value.replace(':', '='))
    if (!found || value !== field.value) return
    list.replaceChildren(
      ...found.tags.map((tag) => {
        const option = document.createElement('option')
        option.value = tag.replace('=', ':')
        return option
      }),
    )
  }
  field.addEventListener('focus', load)
  field.addEventListener('input', load)
}

function enableSuggestions(field) {
  const keys = JSON.parse(field.dataset.suggestions)
  const help = field.closest('.search').querySelector('details')
  const list = document.createElement('ul')
  list.id = 'suggestions'
  list.className = 'suggestions'
  list.hidden = true
  list.setAttribute('role', 'listbox')
  list.setAttribute('aria-label', 'Suggestions')
  field.closest('.search').append(list)
  for (const [name, value] of [
    ['role', 'combobox'],
    ['aria-autocomplete', 'list'],
    ['aria-controls', list.id],
    ['aria-expanded', 'false'],
    ['autocomplete', 'off'],
  ])
    field.setAttribute(name, value)

  /** Returns the text before the cursor that a suggestion replaces. */
  const currentTerm = () => /-?([^\s"]*)$/.exec(field.value.slice(0, field.selectionStart))?.[1] ?? ''

  function findSuggestions() {
    const term = currentTerm()
    const [name, typed] = term.includes(':') ? term.split(/:(.*)/s) : [null, term]
    const start = typed.toLowerCase()
    const options = name === null ? [...findKeys(start), ...findValues(start)] : valuesOf(name, start)
    const others = options.filter(({ term: option }) => option !== term)
    return term === '' ? others : others.slice(0, MAX_SUGGESTIONS)
  }

  function findKeys(start) {
    return Object.entries(keys)
      .filter(([name]) => name.startsWith(start))
      .map(([name, { text, example }]) => ({ term: `${name}:`, text, example }))
  }

  /** Suggests `platform:iOS` for `ios`. */
  function findValues(start) {
    if (start.length < MIN_VALUE_LENGTH) return []
    return Object.keys(keys).flatMap((name) =>
      valuesOf(name, start).map((option) => ({ ...option, text: option.text ?? keys[name].text })),
    )
  }

  function valuesOf(name, start) {
    const { values } = Object.hasOwn(keys, name) ? keys[name] : { values: [] }
    return values
      .filter(([value]) => value.toLowerCase().startsWith(start.replace(/^"/, '')))
      .map(([value, text]) => ({ term: `${name}:${/[\s"*]/.test(value) ? JSON.stringify(value) : value}`, text }))
  }

  /** Replaces the values of `tag:` with suggestions of the server. */
  async function loadTags() {
    const term = currentTerm()
    if (!term.startsWith('tag:')) return
    const found = await fetchTags(field.dataset, term.slice('tag:'.length).replaceAll('"', ''))
    if (!found || term !== currentTerm()) return
    keys.tag.values = found.tags.map((tag) => [tag])
    show(findSuggestions())
    if (!found.has_more_values) return
    list.prepend(element('li', 'muted', 'Too many values. Some are not suggested and cannot be found.'))
    list.hidden = false
  }

  function show(options) {
    const items = options.map(({ term, text, example }) => {
      const item = document.createElement('li')
      item.dataset.term = term
      item.append(element('code', 'suggested-term', term))
      if (text) item.append(element('span', 'suggested-text', text))
      if (example) item.append(element('code', 'suggested-example', example))
      return item
    })
    if (items.length > 0) items.push(element('li', 'suggested-help', 'Search syntax'))
    for (const [i, item] of items.entries()) {
      item.id = `suggestion-${i}`
      item.setAttribute('role', 'option')
      item.setAttribute('aria-selected', 'false')
    }
    list.replaceChildren(...items)
    list.hidden = options.length === 0
    field.setAttribute('aria-expanded', String(!list.hidden))
    field.removeAttribute('aria-activedescendant')
  }

  function element(name, className, text) {
    const created = document.createElement(name)
    created.className = className
    created.textContent = text
    return created
  }

  const selected = () => list.querySelector('[aria-selected="true"]')

  function move(step) {
    const items = [...list.querySelectorAll('[role="option"]')]
    if (items.length === 0) return
    const current = items.indexOf(selected())
    const next = items[(current + step + items.length + (current < 0 && step < 0 ? 1 : 0)) % items.length]
    for (const item of items) item.setAttribute('aria-selected', String(item === next))
    field.setAttribute('aria-activedescendant', next.id)
    next.scrollIntoView({ block: 'nearest' })
  }

  function accept({ dataset: { term } }) {
    if (term === undefined) {
      show([])
      help.open = true
      help.querySelector('summary').focus()
      return
    }
    const end = field.selectionStart
    const isUnfinished = /[:=]$/.test(term)
    field.setRangeText(isUnfinished ? term : `${term} `, end - currentTerm().length, end, 'end')
    update(isUnfinished)
  }

  function update(isOpen) {
    show(isOpen ? findSuggestions() : [])
    if (isOpen) void loadTags()
  }

  /** Suggests all keys in an empty field. */
  const offerKeys = () => field.value === '' && update(true)

  field.addEventListener('input', () => update(currentTerm() !== '' || field.value === ''))
  field.addEventListener('focus', offerKeys)
  field.addEventListener('click', offerKeys)
  field.addEventListener('blur', () => show([]))
  field.addEventListener('keydown', (event) => {
    if (event.isComposing) return
    if (event.key === 'ArrowDown' || event.key === 'ArrowUp') {
      if (list.hidden) show(findSuggestions())
      if (list.hidden) return
      move(event.key === 'ArrowDown' ? 1 : -1)
    } else if ((event.key === 'Enter' || event.key === 'Tab') && selected()) accept(selected())
    else if (event.key === 'Escape' && !list.hidden) show([])
    else return
    event.preventDefault()
  })
  // Keeps the focus in the field.
  list.addEventListener('mousedown', (event) => event.preventDefault())
  list.addEventListener('click', (event) => {
    const item = event.target.closest('[role="option"]')
    if (item) accept(item)
  })
}
