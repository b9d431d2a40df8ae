import { AsyncLocalStorage } from 'node:async_hooks'
import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import type { ServerResponse } from 'node:http'
import { types } from 'node:util'
import type { Trail } from './breadcrumbs/breadcrumbs.js'
import type { HostRequest } from './facts/request-facts.js'

/** What is known of the work that is going on: a request, a job, or whatever the host runs in `withScope`. */
export interface Scope {
  readonly request: HostRequest | null
  /** The answer to it, where this is the scope of the whole request. */
  readonly response: ServerResponse | null
  /** Whether it will be known when it is over. */
  readonly ends: boolean
  /** By `performance.now()`. */
  readonly started_at: number
  user_id: string | number | null
  tags: Record<string, unknown> | null
  context: Record<string, unknown> | null
  trail: Trail | null
}

export type ScopeMode = 'auto' | 'always' | 'never'

const REQUEST_START = 'http.server.request.start'

/** From this major version on, AsyncLocalStorage costs the awaits of the host next to nothing. */
const CHEAP_SINCE = 24
const IS_CHEAP = Number(process.versions.node.split('.')[0]) >= CHEAP_SINCE

/**
 * One scope per request, found from anywhere in it by AsyncLocalStorage. On Node.js 20 and 22 that costs every await of
 * the host, so there, in the mode `auto`, requests get theirs only from the first time on that one would be of use.
 */
export class Scopes {
  readonly #storage = new AsyncLocalStorage<Scope>()
  readonly #mode: ScopeMode
  #follows_requests = false
  /** Called with each scope that was run, when it ends. Listeners must not throw. */
  readonly onEnd: ((scope: Scope) => void)[] = []

  constructor(mode: ScopeMode) {
    this.#mode = mode
    if (mode === 'always' || (mode === 'auto' && IS_CHEAP)) this.#followRequests()
  }

  current(): Scope | undefined {
    return this.#storage.getStore()
  }

  /** Somebody reports from outside of any hook of a framework: from now on requests should be known. */
  wanted(): void {
    if (this.#mode === 'auto') this.#followRequests()
  }

  /** The scope to write to; work that has none gets one from here on. Null when the host wants none. */
  open(): Scope | null {
    if (this.#mode === 'never') return null
    const known = this.#storage.getStore()
    if (known) return known
    this.#followRequests()
    const scope = newScope({ ends: false })
    this.#storage.enterWith(scope)
    return scope
  }

  /** Runs something in a scope of its own, which knows what the one around it knows. */
  run<T>(work: () => T): T {
    if (this.#mode === 'never') return work()
    this.#followRequests()
    const outer = this.#storage.getStore()
    const scope = newScope({ request: outer?.request ?? null, ends: true })
    if (outer) {
      scope.user_id = outer.user_id
      scope.tags = outer.tags
      scope.context = outer.context
    }
    if (this.onEnd.length === 0) return this.#storage.run(scope, work)
    return endingWith(
      () => this.#storage.run(scope, work),
      () => {
        for (const listener of this.onEnd) listener(scope)
      },
    )
  }

  stop(): void {
    if (this.#follows_requests) unsubscribe(REQUEST_START, this.#onRequest)
    this.#follows_requests = false
    this.#storage.disable()
  }

  #followRequests(): void {
    if (this.#follows_requests) return
    this.#follows_requests = true
    subscribe(REQUEST_START, this.#onRequest)
  }

  readonly #onRequest = (message: unknown): void => {
    const { request, response } = message as { request: HostRequest; response: ServerResponse }
    this.#storage.enterWith(newScope({ request, response, ends: true }))
  }
}

/** More than this many values of one scope would not be stored anyway. */
const MAX_VALUES = 100

/** Adds values of the host without running anything of it: no getter is called, no Proxy touched. */
export function merged(known: Record<string, unknown> | null, values: unknown): Record<string, unknown> | null {
  if (typeof values !== 'object' || values === null || types.isProxy(values)) return known
  const result: Record<string, unknown> = Object.assign(Object.create(null), known)
  let room = MAX_VALUES - Object.keys(result).length
  for (const [key, { value }] of Object.entries(Object.getOwnPropertyDescriptors(values))) {
    if (!(key in result) && --room < 0) continue
    result[key] = value
  }
  return result
}

type NewScope = Pick<Scope, 'ends'> & Partial<Pick<Scope, 'request' | 'response'>>

function newScope({ request = null, response = null, ends }: NewScope): Scope {
  return {
    request,
    response,
    ends,
    started_at: performance.now(),
    user_id: null,
    tags: null,
    context: null,
    trail: null,
  }
}

/** Calls back when the work is over. What it gives is what was watched: a rejection that nobody handles stays one. */
function endingWith<T>(work: () => T, onEnd: () => void): T {
  let result: T
  try {
    result = work()
  } catch (error) {
    onEnd()
    throw error
  }
  if (types.isPromise(result)) return result.finally(onEnd) as T
  onEnd()
  return result
}
