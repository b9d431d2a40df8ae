// The list keeps itself true while it is read: figures change in place, and what is new is only announced.
const list = document.querySelector('[data-live]')
if (list && 'EventSource' in window) followChanges(list)

function followChanges(list) {
  const FETCH_EVERY = 5_000
  const POLL_EVERY = 15_000
  const CONNECT_AFTER = 1_000
  const CONNECT_AGAIN_AFTER = 60_000
  const { live, changes, since, timeZone } = list.dataset
  const arrivals = list.querySelector('[data-arrivals]')
  const announcer = document.querySelector('#announcer')
  const counts = new Intl.NumberFormat('en')
  const clock = new Intl.DateTimeFormat('en-GB', { dateStyle: 'medium', timeStyle: 'medium', timeZone })
  let stream = null
  let polling = null
  let connecting = null
  let asking = null
  let isAnswering = false
  let missed = false
  let notBefore = performance.now() + FETCH_EVERY

  /** Not at once: who only passes through needs no stream. */
  function start() {
    if (document.hidden || stream || connecting) return
    connecting = setTimeout(connect, CONNECT_AFTER)
  }

  /** A hidden tab holds no connection: browsers allow few to one host, and nobody is looking. */
  function stop() {
    stream?.close()
    stream = null
    for (const timer of [polling, connecting, asking]) clearTimeout(timer)
    polling = connecting = asking = null
  }

  function connect() {
    connecting = null
    // From the origin and not from the page's address, which may hold credentials that no request may carry.
    stream = new EventSource(new URL(live, location.origin))
    stream.addEventListener('changed', ask)
    stream.addEventListener('open', () => {
      if (polling !== null) ask()
      clearTimeout(polling)
      polling = null
    })
    stream.addEventListener('error', () => {
      poll()
      if (stream?.readyState !== EventSource.CLOSED) return
      stream = null
      connecting = setTimeout(connect, CONNECT_AGAIN_AFTER)
    })
  }

  function poll() {
    if (polling !== null) return
    const next = () => {
      ask()
      polling = setTimeout(next, POLL_EVERY)
    }
    polling = setTimeout(next, POLL_EVERY)
  }

  /** However often something changes, the dashboard is asked seldom enough to stay within its rate limit. */
  function ask() {
    if (asking !== null || document.hidden) return
    // The answer under way may have been made before this change.
    missed ||= isAnswering
    if (isAnswering) return
    asking = setTimeout(fetchChanges, Math.max(0, notBefore - performance.now()))
  }

  async function fetchChanges() {
    asking = null
    isAnswering = true
    notBefore = performance.now() + FETCH_EVERY
    try {
      const answer = await fetch(changesAddress(), { headers: { accept: 'application/json' } })
      if (answer.ok) show(await answer.json())
      else
        notBefore = performance.now() + Math.max(FETCH_EVERY, (Number(answer.headers.get('retry-after')) || 0) * 1000)
    } catch {
      // The host is away for now; the next event or poll asks again.
    }
    isAnswering = false
    if (missed) ask()
    missed = false
  }

  function changesAddress() {
    const address = new URL(changes, location.origin)
    address.searchParams.set('since', since)
    address.searchParams.set('ids', [...list.querySelectorAll('[data-row]')].map((row) => row.dataset.row).join())
    return address
  }

  function show({ new_count, new_count_is_bound, updated }) {
    for (const change of updated) {
      const row = list.querySelector(`[data-row="${Number(change.id)}"]`)
      if (row) update(row, change)
    }
    announce(new_count, `${counts.format(new_count)}${new_count_is_bound ? '+' : ''}`)
  }

  function update(row, { occurrence_count, user_count, occurred_at, daily_counts, status, severity }) {
    write(row, 'occurrence_count', counts.format(occurrence_count))
    write(row, 'user_count', counts.format(user_count))
    mark(row, 'status', status)
    mark(row, 'severity', severity)
    const time = row.querySelector('[data-field="occurred_at"] time')
    if (time && time.dateTime !== occurred_at) {
      time.dateTime = occurred_at
      time.title = `${clock.format(new Date(occurred_at))} ${timeZone}`
      time.textContent = 'just now'
    }
    redraw(row.querySelector('.sparkline'), daily_counts)
  }

  function write(row, field, text) {
    const place = row.querySelector(`[data-field="${field}"]`)
    if (place && place.textContent !== text) place.textContent = text
  }

  function mark(row, field, word) {
    const badge = row.querySelector(`[data-field="${field}"] .badge`)
    if (!badge || badge.classList.contains(`${field}-${word}`)) return
    badge.className = `badge ${field}-${word}`
    badge.textContent = word === 'wont_fix' ? "won't fix" : word.replaceAll('_', ' ')
  }

  /** As the server draws it: bars that stand on the lower edge of a box of 24. */
  function redraw(picture, values) {
    if (!picture) return
    const most = Math.max(1, ...values)
    const label = `${picture.getAttribute('aria-label').split(':')[0]}: ${values.join(', ')}`
    picture.setAttribute('aria-label', label)
    picture.querySelector('title').textContent = label
    for (const [i, bar] of picture.querySelectorAll('rect').entries()) {
      const height = values[i] === 0 ? 1 : Math.max(3, (values[i] / most) * 24)
      bar.setAttribute('y', 24 - height)
      bar.setAttribute('height', height)
      bar.classList.toggle('none', values[i] === 0)
    }
  }

  function announce(count, text) {
    if (!arrivals || count === 0) return
    const words = `${text} new ${count === 1 ? 'error' : 'errors'}`
    const place = arrivals.querySelector('[data-arrivals-text]')
    if (place.textContent === words) return
    place.textContent = words
    arrivals.hidden = false
    announcer.textContent = words
  }

  document.addEventListener('visibilitychange', () => {
    if (document.hidden) return stop()
    ask()
    start()
  })
  // A page with an open stream cannot be kept for the way back.
  window.addEventListener('pagehide', stop)
  window.addEventListener('pageshow', ({ persisted }) => persisted && start())
  start()
}
