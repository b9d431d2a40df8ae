import { AsyncLocalStorage } from 'node:async_hooks'
import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import type { ServerResponse } from 'node:http'
import { types } from 'node:util'
import type { RecordedBreadcrumb } from './breadcrumbs/breadcrumb.js'
import type { HostRequest } from './facts/request-facts.js'

/** Data about the current unit of work: a request, a job, or a callback of `withScope`. */
export interface Scope {
  readonly request: HostRequest | null
  /** The response, if this is the scope of a whole request. */
  readonly response: ServerResponse | null
  /** True if the end of the scope can be observed. */
  readonly hasEnd: boolean
  /** Measured with `performance.now()`. */
  readonly startedAt: number
  user_id: string | number | null
  tags: Record<string, unknown> | null
  context: Record<string, unknown> | null
  trail: Trail | null
}

export type ScopeMode = 'auto' | 'always' | 'never'

const REQUEST_START = 'http.server.request.start'

/** First major version of Node.js in which AsyncLocalStorage adds almost no cost to the host's awaits. */
const FAST_SCOPES_SINCE_NODE = 24
const HAS_FAST_SCOPES = Number(process.versions.node.split('.')[0]) >= FAST_SCOPES_SINCE_NODE

/**
 * Stores one scope per request in AsyncLocalStorage, which slows down every await in the host on Node.js 20 and 22. On
 * these versions, mode `auto` creates request scopes only after the first use of a scope.
 */
export class Scopes {
  readonly #storage = new AsyncLocalStorage<Scope>()
  readonly #mode: ScopeMode
  #isFollowingRequests = false
  /** Called at the end of each scope started by `run`. Listeners must not throw. */
  readonly onEnd: ((scope: Scope) => void)[] = []

  constructor(mode: ScopeMode) {
    this.#mode = mode
    if (mode === 'always' || (mode === 'auto' && HAS_FAST_SCOPES)) this.#followRequests()
  }

  current(): Scope | undefined {
    return this.#storage.getStore()
  }

  /** Called when an error is reported outside of a framework hook. Requests get a scope from then on. */
  enableForRequests(): void {
    if (this.#mode === 'auto') this.#followRequests()
  }

  /** Scope to write to. Creates one if there is none. Null if scopes are disabled. */
  open(): Scope | null {
    if (this.#mode === 'never') return null
    const existing = this.#storage.getStore()
    if (existing) return existing
    this.#followRequests()
    const scope = newScope({ hasEnd: false })
    this.#storage.enterWith(scope)
    return scope
  }

  /** Runs a callback in its own scope, which inherits from the surrounding scope. */
  run<T>(work: () => T): T {
    if (this.#mode === 'never') return work()
    this.#followRequests()
    const outer = this.#storage.getStore()
    const scope = newScope({ request: outer?.request ?? null, hasEnd: true })
    if (outer) {
      scope.user_id = outer.user_id
      scope.tags = outer.tags
      scope.context = outer.context
    }
    if (this.onEnd.length === 0) return this.#storage.run(scope, work)
    return callOnEnd(
      () => this.#storage.run(scope, work),
      () => {
        for (const listener of this.onEnd) listener(scope)
      },
    )
  }

  stop(): void {
    if (this.#isFollowingRequests) unsubscribe(REQUEST_START, this.#onRequest)
    this.#isFollowingRequests = false
    this.#storage.disable()
  }

  #followRequests(): void {
    if (this.#isFollowingRequests) return
    this.#isFollowingRequests = true
    subscribe(REQUEST_START, this.#onRequest)
  }

  readonly #onRequest = (message: unknown): void => {
    const { request, response } = message as { request: HostRequest; response: ServerResponse }
    this.#storage.enterWith(newScope({ request, response, hasEnd: true }))
  }
}

/** Limits the values per scope. The database would not store more. */
const MAX_VALUES = 100

/** Adds values without running host code: getters are not called, Proxies are not read. */
export function mergeValues(existing: Record<string, unknown> | null, values: unknown): Record<string, unknown> | null {
  if (typeof values !== 'object' || values === null || types.isProxy(values)) return existing
  const result: Record<string, unknown> = Object.assign(Object.create(null), existing)
  let remaining = MAX_VALUES - Object.keys(result).length
  for (const [key, { value }] of Object.entries(Object.getOwnPropertyDescriptors(values))) {
    if (!(key in result) && --remaining < 0) continue
    result[key] = value
  }
  return result
}

type NewScope = Pick<Scope, 'hasEnd'> & Partial<Pick<Scope, 'request' | 'response'>>

function newScope({ request = null, response = null, hasEnd }: NewScope): Scope {
  return {
    request,
    response,
    hasEnd,
    startedAt: performance.now(),
    user_id: null,
    tags: null,
    context: null,
    trail: null,
  }
}

/** Calls back when the work is over. Returns the original promise, so that an unhandled rejection stays unhandled. */
function callOnEnd<T>(work: () => T, onEnd: () => void): T {
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

/** The newest breadcrumbs of one scope. */
export class Trail {
  /** Null for the trail of work outside of any scope. */
  readonly scope: Scope | null
  readonly #size: number
  #breadcrumbs: RecordedBreadcrumb[] = []
  #oldest = 0

  constructor(size: number, scope: Scope | null) {
    this.#size = size
    this.scope = scope
  }

  add(crumb: RecordedBreadcrumb): void {
    if (this.#breadcrumbs.length < this.#size) {
      this.#breadcrumbs.push(crumb)
      return
    }
    this.#breadcrumbs[this.#oldest] = crumb
    this.#oldest = (this.#oldest + 1) % this.#size
  }

  /** Oldest first. */
  list(): RecordedBreadcrumb[] {
    return [...this.#breadcrumbs.slice(this.#oldest), ...this.#breadcrumbs.slice(0, this.#oldest)]
  }
}
