// Live updates: changes the figures of a list in place, and announces new errors and new occurrences of an error.
let stopLiveUpdates = startLiveUpdates(document.querySelector('[data-live]'))
document.addEventListener('content-replaced', () => {
  stopLiveUpdates()
  stopLiveUpdates = startLiveUpdates(document.querySelector('[data-live]'))
})

/** Returns a function that ends the updates. */
function startLiveUpdates(list) {
  if (!list || !('EventSource' in window)) return () => {}
  const MIN_FETCH_INTERVAL_MS = 5_000
  const POLL_INTERVAL_MS = 15_000
  const CONNECT_DELAY_MS = 1_000
  const RECONNECT_DELAY_MS = 60_000
  const { live, changes, since, timeZone } = list.dataset
  // Prefers the link of the first-run card.
  const arrivals = list.querySelector('.first-run [data-arrivals]') ?? list.querySelector('[data-arrivals]')
  const announcer = document.querySelector('#announcer')
  const countFormat = new Intl.NumberFormat('en')
  const timeFormat = new Intl.DateTimeFormat('en-GB', { dateStyle: 'medium', timeStyle: 'medium', timeZone })
  let stream = null
  let pollTimer = null
  let connectTimer = null
  let scheduledFetch = null
  let isFetching = false
  let hasMissedChange = false
  let notBefore = performance.now() + MIN_FETCH_INTERVAL_MS

  /** Connects after a delay, so that short visits open no stream. */
  function start() {
    if (document.hidden || stream || connectTimer) return
    connectTimer = setTimeout(connect, CONNECT_DELAY_MS)
  }

  /** Closes the stream of a hidden tab, because browsers limit connections per host. */
  function stop() {
    stream?.close()
    stream = null
    for (const timer of [pollTimer, connectTimer, scheduledFetch]) clearTimeout(timer)
    pollTimer = connectTimer = scheduledFetch = null
  }

  function connect() {
    connectTimer = null
    // Relative to the origin: the page URL may contain credentials, which EventSource rejects.
    stream = new EventSource(new URL(live, location.origin))
    stream.addEventListener('changed', scheduleUpdate)
    stream.addEventListener('open', () => {
      if (pollTimer !== null) scheduleUpdate()
      clearTimeout(pollTimer)
      pollTimer = null
    })
    stream.addEventListener('error', () => {
      poll()
      if (stream?.readyState !== EventSource.CLOSED) return
      stream = null
      connectTimer = setTimeout(connect, RECONNECT_DELAY_MS)
    })
  }

  function poll() {
    if (pollTimer !== null) return
    const next = () => {
      scheduleUpdate()
      pollTimer = setTimeout(next, POLL_INTERVAL_MS)
    }
    pollTimer = setTimeout(next, POLL_INTERVAL_MS)
  }

  /** Schedules a fetch, at most one per interval to stay within the rate limit. */
  function scheduleUpdate() {
    if (scheduledFetch !== null || document.hidden) return
    // The pending response may predate this change.
    hasMissedChange ||= isFetching
    if (isFetching) return
    scheduledFetch = setTimeout(fetchChanges, Math.max(0, notBefore - performance.now()))
  }

  async function fetchChanges() {
    scheduledFetch = null
    isFetching = true
    notBefore = performance.now() + MIN_FETCH_INTERVAL_MS
    try {
      const response = await fetch(changesUrl(), { headers: { accept: 'application/json' } })
      if (response.ok) show(await response.json())
      else
        notBefore =
          performance.now() + Math.max(MIN_FETCH_INTERVAL_MS, (Number(response.headers.get('retry-after')) || 0) * 1000)
    } catch {
      // The host is unreachable. The next event or poll retries.
    }
    isFetching = false
    if (hasMissedChange) scheduleUpdate()
    hasMissedChange = false
  }

  function changesUrl() {
    const url = new URL(changes, location.origin)
    url.searchParams.set('since', since)
    const rows = [...list.querySelectorAll('[data-row]')].map((row) => row.dataset.row)
    url.searchParams.set('ids', list.dataset.error ?? rows.join())
    return url
  }

  function show({ new_count, new_count_is_lower_bound, updated }) {
    for (const change of updated) {
      const row = list.querySelector(`[data-row="${Number(change.id)}"]`)
      if (row) update(row, change)
    }
    const { occurrences } = list.dataset
    if (occurrences === undefined) announce(new_count, new_count_is_lower_bound ? '+' : '', 'error')
    else for (const { occurrence_count } of updated) announce(occurrence_count - occurrences, '', 'occurrence')
  }

  function update(row, { occurrence_count, user_count, occurred_at, daily_counts, status, severity }) {
    write(row, 'occurrence_count', countFormat.format(occurrence_count))
    write(row, 'user_count', countFormat.format(user_count))
    mark(row, 'status', status)
    mark(row, 'severity', severity)
    const time = row.querySelector('[data-field="occurred_at"] time')
    if (time && time.dateTime !== occurred_at) {
      time.dateTime = occurred_at
      time.title = `${timeFormat.format(new Date(occurred_at))} ${timeZone}`
      time.textContent = 'just now'
    }
    redraw(row.querySelector('.sparkline'), daily_counts)
    write(row, 'daily_max', countFormat.format(Math.max(...daily_counts)))
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
    if (field === 'severity') badge.parentElement.title = `Severity: ${word}`
  }

  /** Draws the bars as the server does, from the bottom of a box of 100 by 24. */
  function redraw(sparkline, values) {
    if (!sparkline) return
    // The maximum of the page, for bars on its square-root scale.
    const pageMax = Number(sparkline.dataset.max ?? 0)
    const max = Math.max(1, pageMax, ...values)
    const title = sparkline.querySelector('title')
    title.textContent = `${title.textContent.split(':')[0]}: ${values.join(', ')}`
    const heights = values.map((value) => {
      const share = pageMax > 0 ? Math.sqrt(value / max) : value / max
      return value === 0 ? 0 : Math.max(3, share * 24)
    })
    const line = (height, i) => `M${((i + 0.3) * 100) / values.length} 24v-${height || 1}`
    const [bars, empty] = sparkline.querySelectorAll(':scope > path')
    bars.setAttribute('d', heights.map((height, i) => (height > 0 ? line(height, i) : '')).join(''))
    empty.setAttribute('d', heights.map((height, i) => (height > 0 ? '' : line(height, i))).join(''))
    // Clips the stripes of the current day.
    const stripes = sparkline.querySelector('svg')
    stripes.setAttribute('y', 24 - heights.at(-1))
    stripes.setAttribute('height', heights.at(-1))
  }

  function announce(count, bound, noun) {
    if (!arrivals || count <= 0) return
    const message = `${countFormat.format(count)}${bound} new ${count === 1 ? noun : `${noun}s`}`
    const place = arrivals.querySelector('[data-arrivals-text]')
    if (place.textContent === message) return
    place.textContent = message
    arrivals.hidden = false
    announcer.textContent = message
  }

  const page = new AbortController()
  const { signal } = page
  const onVisible = () => {
    if (document.hidden) return stop()
    scheduleUpdate()
    start()
  }
  document.addEventListener('visibilitychange', onVisible, { signal })
  // An open stream would exclude the page from the back/forward cache.
  window.addEventListener('pagehide', stop, { signal })
  window.addEventListener('pageshow', ({ persisted }) => persisted && start(), { signal })
  start()
  return () => {
    page.abort()
    stop()
  }
}
