import { attempt, runQuietly } from './quietly.js'
import type { BrowserOptions, ClientEvent, Listen } from './types.js'

/** `notify` schedules a send, sooner for a full batch. `flush` sends all pending events now. */
export type Sender = [notify: (pendingCount: number) => void, flush: () => Promise<void>]

/** Sends events in batches, and retries temporary failures. `takePending` removes and returns the pending events. */
export function createSender(options: BrowserOptions, takePending: () => ClientEvent[], listen: Listen): Sender {
  const { endpoint, headers, token, credentials } = options
  // Uses the original fetch, so that the client's own requests are not breadcrumbs.
  const { fetch } = window
  const { warn } = console
  let queue = updateStored(endpoint, [])
  updateStored(endpoint, queue)
  let batchLimit = 10
  let timer: ReturnType<typeof setTimeout> | 0 = 0
  let sending: Promise<void> | undefined
  let failures = 0
  let rejections = 0
  let retryDelay = 0

  function scheduleSend(delay: number) {
    clearTimeout(timer)
    timer = setTimeout(() => {
      timer = 0
      retryDelay = 0
      runQuietly(send)
    }, delay)
  }

  function send(isLeaving?: boolean): Promise<void> | undefined {
    queue = queue.concat(takePending()).slice(-50)
    if (retryDelay || !navigator.onLine) updateStored(endpoint, queue, queue)
    else if (queue[0] && !sending) {
      const onSent = () => {
        sending = undefined
        scheduleSend(retryDelay)
      }
      // A rejection here would be attributed to the page.
      sending = sendBatch(isLeaving).then(onSent, onSent)
    }
    return sending
  }

  async function sendBatch(isLeaving?: boolean): Promise<void> {
    let batch: ClientEvent[]
    let body: string
    let count = batchLimit
    do {
      batch = queue.slice(0, count)
      body = JSON.stringify({ errors: batch })
      // Browsers limit the size of requests from a closing page, and the page may send requests too.
    } while (new Blob([body]).size > 60_000 && --count)
    queue = queue.slice(batch.length)
    // A beacon has no response and no token: only for browsers without a better option.
    if (isLeaving && !(token || headers || 'keepalive' in Request.prototype) && navigator.sendBeacon(endpoint, body))
      return
    const response = await fetch(endpoint, {
      method: 'POST',
      body,
      credentials,
      // Lets the request outlive the page. A batch that is too large is sent without keepalive.
      keepalive: !!count,
      headers: {
        // Sent as text, because a cross-origin JSON request needs a preflight, for which a closing page has no time.
        'Content-Type': isLeaving ? 'text/plain' : 'application/json',
        ...(token && { Authorization: `Bearer ${token}` }),
        ...headers,
      },
    } as RequestInit).catch(Response.error)
    // Reads the response, because the request counts as pending until then. An incomplete response is enough.
    const responseText = await response.text().catch(String)
    const { status } = response
    if (!status || status === 429 || status > 499) {
      queue = batch.concat(queue)
      updateStored(endpoint, batch, batch)
      const retryAfterSeconds = response.headers.get('Retry-After') as unknown as number
      retryDelay = Math.min(retryAfterSeconds * 1000 || 1000 * 2 ** failures++, 300_000)
    } else {
      failures = 0
      updateStored(endpoint, batch)
      // Warns once, for the developer who sets up the client.
      if (status > 399 && !rejections++) warn('Faultboard:', endpoint, status, responseText.slice(0, 200))
      // One event is invalid or too large and fails the whole batch: from now on, each event is sent separately.
      if (batch[1] && (status === 422 || status === 413)) {
        batchLimit = 1
        queue = batch.concat(queue)
      }
    }
  }

  function onLeave() {
    send(true)
    updateStored(endpoint, queue, queue)
  }

  listen('pagehide', onLeave)
  listen('visibilitychange', onLeave)
  listen('online', () => scheduleSend(0))
  // Sends events left by an earlier page.
  scheduleSend(1000)
  return [
    (pendingCount) => {
      if (sending || retryDelay) return
      if (pendingCount > 9) scheduleSend(0)
      else if (!timer) scheduleSend(1000)
    },
    async () => {
      do {
        await runQuietly(send)
      } while (queue[0] && !retryDelay && navigator.onLine)
    },
  ]
}

/**
 * Updates the events stored for the next page of this site and returns the previously stored events. Keeps events from
 * other tabs, at most 20 in total. Does nothing if storage is unavailable or full.
 */
function updateStored(endpoint: string, removed: readonly ClientEvent[], added: readonly ClientEvent[] = []) {
  const key = `faultboard ${endpoint}`
  const update = () => {
    const stored: ClientEvent[] = JSON.parse(localStorage[key] || '[]')
    const remaining = stored
      .filter((event) => removed.every(({ event_id }) => event_id !== event.event_id))
      .concat(added)
      .slice(-20)
    if (remaining[0]) localStorage[key] = JSON.stringify(remaining)
    else delete localStorage[key]
    return stored
  }
  return attempt(update) || []
}
