import * as v from 'valibot'
import type { Context } from '../context.js'
import { TrackerError } from '../model/errors.js'
import { latestChange } from '../triage/queries/latest-change.js'
import type { Endpoint } from './define.js'
import { UNBUFFERED } from './http/streamed.js'

export const liveStream: Endpoint = {
  path: '/errors/live',
  text: 'Server-sent events: `changed` on connect and whenever errors may have changed, at most once a second',
  role: 'viewer',
  parameters: v.object({}),
}

const MAX_STREAMS = 50
/** Maximum delay from the start of the host's shutdown to the end of a stream. */
const TICK_MS = 1000
/** Limits events during bursts of writes. */
const MIN_EVENT_INTERVAL_MS = 1000
/** Interval for detecting writes by other processes. */
const POLL_INTERVAL_MS = 3000
const HEARTBEAT_MS = 15_000
/** Maximum lifetime of a stream. Browsers then reconnect. */
const STREAM_LIFETIME_MS = 300_000
/**
 * For adapters that cannot report a shutdown of the host, and for revocable credentials. The browser signs in again
 * when it reconnects.
 */
const SHORT_STREAM_LIFETIME_MS = 60_000
/** Delay before a browser reconnects. */
const RECONNECT_MS = 3000

const HEADERS = {
  'Content-Type': 'text/event-stream; charset=utf-8',
  // Without no-transform, compression middleware would buffer events.
  'Cache-Control': 'no-store, no-transform',
  ...UNBUFFERED,
}

interface StreamClient {
  /** Returns whether the host's server has stopped listening. */
  closing?: (() => boolean) | undefined
  /** True if the client signed in with a token or a session of the host. */
  isRevocable?: boolean
}

interface Subscriber {
  controller: ReadableStreamDefaultController<Uint8Array>
  /** Time from `performance.now()`. */
  endsAt: number
  closing: (() => boolean) | undefined
  /** Removes the abort listener from the request. */
  release(): void
}

/**
 * Notifies open pages when errors may have changed. Writes by this process cause an immediate event. Writes by other
 * processes are detected by polling the database. Idle without subscribers.
 */
export class LiveUpdates {
  readonly #context: Context
  readonly #subscribers = new Set<Subscriber>()
  #monitor: { stop(): void } | null = null
  /** Change marker from the last poll. */
  #latestChange: string | null = null
  #pendingPoll: Promise<boolean> | null = null
  #polledAt = 0
  #heartbeatAt = 0
  #sentAt = Number.NEGATIVE_INFINITY
  #scheduledEvent: NodeJS.Timeout | null = null
  #isClosed = false

  constructor(context: Context) {
    this.#context = context
  }

  /** Opens a stream. */
  respond(request: Request, client: StreamClient): Response {
    const body = request.method === 'HEAD' ? null : this.open(request.signal, client)
    return new Response(body, { headers: HEADERS })
  }

  open(signal?: AbortSignal, client: StreamClient = {}): ReadableStream<Uint8Array> {
    if (this.#isClosed) throw new TrackerError('shut_down', 'The tracker is shut down.')
    if (this.#subscribers.size >= MAX_STREAMS) {
      throw new TrackerError(
        'too_many_streams',
        `Too many live connections (${MAX_STREAMS}). Poll /errors/changes instead.`,
      )
    }
    let unsubscribe = (): void => {}
    return new ReadableStream<Uint8Array>({
      start: (controller) => {
        unsubscribe = this.#subscribe(controller, signal, client)
      },
      cancel: () => unsubscribe(),
    })
  }

  /** Schedules an event. Never throws or blocks the caller. */
  notify(): void {
    if (this.#scheduledEvent || this.#subscribers.size === 0) return
    const wait = Math.max(0, this.#sentAt + MIN_EVENT_INTERVAL_MS - performance.now())
    this.#scheduledEvent = setTimeout(() => void this.#sendEvent(), wait).unref()
  }

  /** Ends every stream and refuses new streams. */
  close(): void {
    this.#isClosed = true
    for (const subscriber of this.#subscribers) this.#unsubscribe(subscriber)
  }

  #subscribe(
    controller: Subscriber['controller'],
    signal: AbortSignal | undefined,
    { closing, isRevocable = false }: StreamClient,
  ): () => void {
    const unsubscribe = () => this.#unsubscribe(subscriber)
    const subscriber: Subscriber = {
      controller,
      closing,
      endsAt: performance.now() + (closing && !isRevocable ? STREAM_LIFETIME_MS : SHORT_STREAM_LIFETIME_MS),
      release: () => signal?.removeEventListener('abort', unsubscribe),
    }
    this.#subscribers.add(subscriber)
    this.#monitor ??= this.#startMonitor()
    signal?.addEventListener('abort', unsubscribe)
    controller.enqueue(encode(`retry: ${RECONNECT_MS}\n`))
    // Covers changes since the page was rendered or since the previous stream ended. Sent after the first poll, because
    // an earlier change would never be announced.
    const sendFirstEvent = () => {
      if (this.#subscribers.has(subscriber)) controller.enqueue(encode(this.#changedEvent()))
    }
    if (this.#latestChange === null) void this.#poll().then(sendFirstEvent)
    else sendFirstEvent()
    if (signal?.aborted) unsubscribe()
    return unsubscribe
  }

  #startMonitor(): { stop(): void } {
    this.#heartbeatAt = performance.now()
    const timer = setInterval(() => this.#tick(), TICK_MS).unref()
    const stopListening = this.#context.database.onWritten(() => this.notify())
    return {
      stop: () => {
        clearInterval(timer)
        stopListening()
        if (this.#scheduledEvent) clearTimeout(this.#scheduledEvent)
        this.#scheduledEvent = null
        this.#latestChange = null
      },
    }
  }

  #tick(): void {
    const now = performance.now()
    for (const subscriber of this.#subscribers)
      if (now >= subscriber.endsAt || subscriber.closing?.()) this.#unsubscribe(subscriber)
    if (now - this.#heartbeatAt >= HEARTBEAT_MS) {
      this.#heartbeatAt = now
      this.#broadcast(': \n\n')
    }
    if (now - this.#polledAt >= POLL_INTERVAL_MS) void this.#poll().then((changed) => changed && this.notify())
  }

  async #sendEvent(): Promise<void> {
    // Polls first, so that the next poll does not report the same change again.
    await this.#poll()
    this.#scheduledEvent = null
    this.#sentAt = performance.now()
    this.#broadcast(this.#changedEvent())
  }

  /** Polls the database. Resolves to true if the database has changed since the last poll. */
  #poll(): Promise<boolean> {
    this.#polledAt = performance.now()
    this.#pendingPoll ??= latestChange(this.#context)
      .then((latest) => {
        const changed = this.#latestChange !== null && this.#latestChange !== latest
        this.#latestChange = latest
        return changed
      })
      // The recorder logs outages; a later poll detects the changes.
      .catch(() => false)
      .finally(() => {
        this.#pendingPoll = null
      })
    return this.#pendingPoll
  }

  #changedEvent(): string {
    const at = new Date(this.#context.now()).toISOString()
    return `id: ${at}\nevent: changed\ndata: ${JSON.stringify({ at })}\n\n`
  }

  #broadcast(text: string): void {
    const bytes = encode(text)
    for (const { controller } of this.#subscribers) controller.enqueue(bytes)
  }

  #unsubscribe(subscriber: Subscriber): void {
    if (!this.#subscribers.delete(subscriber)) return
    subscriber.release()
    try {
      subscriber.controller.close()
    } catch {
      // The client has already closed the stream.
    }
    if (this.#subscribers.size > 0) return
    this.#monitor?.stop()
    this.#monitor = null
  }
}

function encode(text: string): Uint8Array {
  return new TextEncoder().encode(text)
}
