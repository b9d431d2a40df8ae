import { quietly } from './quietly.js'
import { changeKept } from './storage.js'
import type { BrowserOptions, ClientEvent, Listen } from './types.js'

/** Reports the number of waiting events, and a function that sends all of them now. */
export type Sender = [notify: (waiting: number) => void, flush: () => Promise<void>]

/** Sends events in batches, with retries where they can help. `gather` returns the waiting events. */
export function createSender(options: BrowserOptions, gather: () => ClientEvent[], listen: Listen): Sender {
  const { endpoint, headers, token, credentials } = options
  // The original fetch, so that our own requests are not breadcrumbs.
  const { fetch } = window
  const { warn } = console
  let queue = changeKept(endpoint, [])
  changeKept(endpoint, queue)
  let batch_limit = 10
  let timer: ReturnType<typeof setTimeout> | 0 = 0
  let running: Promise<void> | undefined
  let failures = 0
  let refusals = 0
  let pause = 0

  function wake(delay: number) {
    clearTimeout(timer)
    timer = setTimeout(() => {
      timer = 0
      pause = 0
      quietly(send)
    }, delay)
  }

  function send(leaving?: boolean): Promise<void> | undefined {
    queue = queue.concat(gather()).slice(-50)
    if (pause || !navigator.onLine) changeKept(endpoint, queue, queue)
    else if (queue[0] && !running) {
      const ended = () => {
        running = undefined
        wake(pause)
      }
      // A rejection here would be attributed to the page.
      running = sendBatch(leaving).then(ended, ended)
    }
    return running
  }

  async function sendBatch(leaving?: boolean): Promise<void> {
    let batch: ClientEvent[]
    let body: string
    let count = batch_limit
    do {
      batch = queue.slice(0, count)
      body = JSON.stringify({ errors: batch })
      // Browsers limit the size of requests from a closing page, and the page may send requests too.
    } while (new Blob([body]).size > 60_000 && --count)
    queue = queue.slice(batch.length)
    // A beacon has no response and no token: only for browsers without a better option.
    if (leaving && !(token || headers || 'keepalive' in Request.prototype) && navigator.sendBeacon(endpoint, body))
      return
    const response = await fetch(endpoint, {
      method: 'POST',
      body,
      credentials,
      // Survives the end of the page. A batch that is too large is still sent without it.
      keepalive: !!count,
      headers: {
        // Sent as text, so that another origin needs no preflight, for which a closing page has no time.
        'Content-Type': leaving ? 'text/plain' : 'application/json',
        ...(token && { Authorization: `Bearer ${token}` }),
        ...headers,
      },
    } as RequestInit).catch(Response.error)
    // A request counts as pending until its response is read. A response that breaks off counts too.
    const said = await response.text().catch(String)
    const { status } = response
    if (!status || status === 429 || status > 499) {
      queue = batch.concat(queue)
      changeKept(endpoint, batch, batch)
      const asked_s = response.headers.get('Retry-After') as unknown as number
      pause = Math.min(asked_s * 1000 || 1000 * 2 ** failures++, 300_000)
    } else {
      failures = 0
      changeKept(endpoint, batch)
      // Warns once, for the developer who sets it up.
      if (status > 399 && !refusals++) warn('Faultboard:', endpoint, status, said.slice(0, 200))
      // One event is invalid or too large and fails the whole batch: from now on, each is sent alone.
      if (batch[1] && (status === 422 || status === 413)) {
        batch_limit = 1
        queue = batch.concat(queue)
      }
    }
  }

  function leave() {
    send(true)
    changeKept(endpoint, queue, queue)
  }

  listen('pagehide', leave)
  listen('visibilitychange', leave)
  listen('online', () => wake(0))
  // Sends events left by an earlier page.
  wake(1000)
  return [
    (waiting) => {
      if (running || pause) return
      if (waiting > 9) wake(0)
      else if (!timer) wake(1000)
    },
    async () => {
      do {
        await quietly(send)
      } while (queue[0] && !pause && navigator.onLine)
    },
  ]
}
