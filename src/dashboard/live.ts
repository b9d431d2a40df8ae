import * as v from 'valibot'
import type { Context } from '../context.js'
import { TrackerError } from '../model/errors.js'
import { latestChange } from '../triage/queries/latest-change.js'
import type { Endpoint } from './define.js'

export const live: Endpoint = {
  path: '/errors/live',
  text: 'An event `changed` when it opens and whenever errors may have changed, at most once a second',
  parameters: v.object({}),
}

const MAX_STREAMS = 50
/** How often the streams are looked after: one whose host is closing ends within this time. */
const ROUND_MS = 1000
/** An event at most this often, however much is written. */
const EVENT_MS = 1000
/** How often the database is asked whether another process has written something. */
const LOOK_MS = 3000
const HEARTBEAT_MS = 15_000
/** How long a stream lasts; the browser opens the next one. Where nobody can say that the host is closing, not long. */
const LIFE_MS = { known: 300_000, unknown: 60_000 }
/** When the browser comes back after the end of a stream. */
const RETRY_MS = 3000

const HEADERS = {
  'Content-Type': 'text/event-stream; charset=utf-8',
  // Without no-transform, middlewares that compress would hold events back until they have enough of them.
  'Cache-Control': 'no-store, no-transform',
  'X-Accel-Buffering': 'no',
}

interface Follower {
  controller: ReadableStreamDefaultController<Uint8Array>
  /** By `performance.now()`. */
  ends_at: number
  closing: (() => boolean) | undefined
  /** Forgets the signal of the request. */
  release(): void
}

/**
 * Tells pages that are open in browsers when what they show may have changed. What this process writes is told at once;
 * for what others write, the database is asked now and then. While nobody follows, nothing runs.
 */
export class LiveUpdates {
  readonly #context: Context
  readonly #followers = new Set<Follower>()
  #watching: { stop(): void } | null = null
  /** What the database said when it was last asked. */
  #latest: string | null = null
  #looking: Promise<boolean> | null = null
  #looked_at = 0
  #beat_at = 0
  #told_at = Number.NEGATIVE_INFINITY
  #telling: NodeJS.Timeout | null = null
  #closed = false

  constructor(context: Context) {
    this.#context = context
  }

  /** The answer to a request for the stream; `closing` tells whether the host's server has stopped listening. */
  answer(request: Request, closing?: () => boolean): Response {
    const body = request.method === 'HEAD' ? null : this.open(request.signal, closing)
    return new Response(body, { headers: HEADERS })
  }

  open(signal?: AbortSignal, closing?: () => boolean): ReadableStream<Uint8Array> {
    if (this.#closed) throw new TrackerError('shut_down', 'The tracker was shut down.')
    if (this.#followers.size >= MAX_STREAMS) {
      throw new TrackerError(
        'too_many_streams',
        `${MAX_STREAMS} pages follow already. Ask for the changes now and then.`,
      )
    }
    let leave = (): void => {}
    return new ReadableStream<Uint8Array>({
      start: (controller) => {
        leave = this.#follow(controller, signal, closing)
      },
      cancel: () => leave(),
    })
  }

  /** Something may have changed. Never throws, and takes no time of whoever calls it. */
  notify(): void {
    if (this.#telling || this.#followers.size === 0) return
    const wait = Math.max(0, this.#told_at + EVENT_MS - performance.now())
    this.#telling = setTimeout(() => void this.#tell(), wait).unref()
  }

  /** Ends every stream, and opens no other. */
  close(): void {
    this.#closed = true
    for (const follower of this.#followers) this.#end(follower)
  }

  #follow(
    controller: Follower['controller'],
    signal: AbortSignal | undefined,
    closing: (() => boolean) | undefined,
  ): () => void {
    const leave = () => this.#end(follower)
    const follower: Follower = {
      controller,
      closing,
      ends_at: performance.now() + (closing ? LIFE_MS.known : LIFE_MS.unknown),
      release: () => signal?.removeEventListener('abort', leave),
    }
    this.#followers.add(follower)
    this.#watching ??= this.#watch()
    signal?.addEventListener('abort', leave)
    // Something may have happened since the page was made, or since the stream before this one ended.
    controller.enqueue(encoded(`retry: ${RETRY_MS}\n${this.#event()}`))
    if (signal?.aborted) leave()
    return leave
  }

  #watch(): { stop(): void } {
    this.#beat_at = performance.now()
    void this.#look()
    const timer = setInterval(() => this.#round(), ROUND_MS).unref()
    const stopListening = this.#context.database.onWritten(() => this.notify())
    return {
      stop: () => {
        clearInterval(timer)
        stopListening()
        if (this.#telling) clearTimeout(this.#telling)
        this.#telling = null
        this.#latest = null
      },
    }
  }

  #round(): void {
    const now = performance.now()
    for (const follower of this.#followers) if (now >= follower.ends_at || follower.closing?.()) this.#end(follower)
    if (now - this.#beat_at >= HEARTBEAT_MS) {
      this.#beat_at = now
      this.#send(': \n\n')
    }
    if (now - this.#looked_at >= LOOK_MS) void this.#look().then((changed) => changed && this.notify())
  }

  async #tell(): Promise<void> {
    // Asked before it is told: what the answer knows is there when a page asks for it, and is not told again.
    await this.#look()
    this.#telling = null
    this.#told_at = performance.now()
    this.#send(this.#event())
  }

  /** Asks whether something has changed since it was last asked. */
  #look(): Promise<boolean> {
    this.#looked_at = performance.now()
    this.#looking ??= latestChange(this.#context)
      .then((latest) => {
        const changed = this.#latest !== null && this.#latest !== latest
        this.#latest = latest
        return changed
      })
      // A database that is away has been complained about already; the pages are told when it is back.
      .catch(() => false)
      .finally(() => {
        this.#looking = null
      })
    return this.#looking
  }

  #event(): string {
    const at = new Date(this.#context.now()).toISOString()
    return `id: ${at}\nevent: changed\ndata: ${JSON.stringify({ at })}\n\n`
  }

  #send(text: string): void {
    const bytes = encoded(text)
    for (const { controller } of this.#followers) controller.enqueue(bytes)
  }

  #end(follower: Follower): void {
    if (!this.#followers.delete(follower)) return
    follower.release()
    try {
      follower.controller.close()
    } catch {
      // The reader has gone away, and the stream with it.
    }
    if (this.#followers.size > 0) return
    this.#watching?.stop()
    this.#watching = null
  }
}

function encoded(text: string): Uint8Array {
  return new TextEncoder().encode(text)
}
