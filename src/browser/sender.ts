import { quietly } from './quietly.js'
import { changeKept } from './storage.js'
import type { BrowserOptions, ClientEvent, Listen } from './types.js'

/** What tells how many wait to be gathered, and what sends all of them now. */
export type Sender = [notify: (waiting: number) => void, flush: () => Promise<void>]

/** Sends events in batches, again and again where that may help. `gather` hands over those that wait. */
export function createSender(options: BrowserOptions, gather: () => ClientEvent[], listen: Listen): Sender {
  const { endpoint, headers, token, credentials } = options
  // Our own requests are no steps of the page.
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
      // A rejection of ours would be taken for one of the page.
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
      // More than this cannot be under way when a page is left, and the page itself may have something to send.
    } while (new Blob([body]).size > 60_000 && --count)
    queue = queue.slice(batch.length)
    // Of a beacon nobody hears whether it arrived, and it takes no token: for browsers that have nothing better.
    if (leaving && !(token || headers || 'keepalive' in Request.prototype) && navigator.sendBeacon(endpoint, body))
      return
    const response = await fetch(endpoint, {
      method: 'POST',
      body,
      credentials,
      // So that it arrives though the page is left meanwhile. One that is too large for that is not refused for it.
      keepalive: !!count,
      headers: {
        // As text no browser has to ask another origin first, for which there is no time on leaving.
        'Content-Type': leaving ? 'text/plain' : 'application/json',
        ...(token && { Authorization: `Bearer ${token}` }),
        ...headers,
      },
    } as RequestInit).catch(Response.error)
    // Until an answer is read, its request counts as being under way; one that breaks off was an answer, too.
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
      // Whoever sets it up should see it, but its visitors not again and again.
      if (status > 399 && !refusals++) warn('Faultboard:', endpoint, status, said.slice(0, 200))
      // One of them is wrong or too large, and the others are lost with it: from now on each goes alone.
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
  // What an earlier page has left behind.
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
