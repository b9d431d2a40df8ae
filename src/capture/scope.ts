import { AsyncLocalStorage } from 'node:async_hooks'
import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import { types } from 'node:util'
import type { Trail } from './breadcrumbs.js'
import type { HostRequest } from './request-facts.js'

/** What is known of the work that is going on: a request, a job, or whatever the host runs in `withScope`. */
export interface Scope {
  readonly request: HostRequest | null
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
    const scope = newScope(null)
    this.#storage.enterWith(scope)
    return scope
  }

  /** Runs something in a scope of its own, which knows what the one around it knows. */
  run<T>(work: () => T): T {
    if (this.#mode === 'never') return work()
    this.#followRequests()
    const outer = this.#storage.getStore()
    const scope = newScope(outer?.request ?? null)
    if (outer) {
      scope.user_id = outer.user_id
      scope.tags = outer.tags
      scope.context = outer.context
    }
    return this.#storage.run(scope, work)
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
    this.#storage.enterWith(newScope((message as { request: HostRequest }).request))
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

function newScope(request: HostRequest | null): Scope {
  return { request, started_at: performance.now(), user_id: null, tags: null, context: null, trail: null }
}
