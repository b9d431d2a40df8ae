import type { Options } from '../../config/options.js'
import type { Scope, Scopes } from '../scope.js'

/** One step that preceded an error. */
export interface Breadcrumb {
  /** Kind of step: `http`, `sql`, `console`, `log`, `deprecation`, or a custom word. */
  category: string
  message: string
  duration_ms?: number | undefined
  metadata?: Record<string, unknown> | undefined
}

/** A breadcrumb with the time at which it was added. */
export interface RecordedBreadcrumb extends Breadcrumb {
  occurred_at: number
}

/** Observes breadcrumbs of all scopes as they are added. Observers must not throw. */
export interface BreadcrumbObserver {
  /** A complete step of the host or a library. */
  added?(crumb: RecordedBreadcrumb, trail: Trail): void
  /** A step of an instrumented driver starts. Its duration is added to the returned object when it ends. */
  started?(crumb: RecordedBreadcrumb, trail: Trail): { duration_ms: number } | null
  /** A connection is requested from a pool. */
  connecting?(trail: Trail): void
}

/** The newest breadcrumbs of one scope. */
export class Trail {
  /** Null for the trail of work without a scope. */
  readonly scope: Scope | null
  readonly #size: number
  #crumbs: RecordedBreadcrumb[] = []
  #oldest = 0

  constructor(size: number, scope: Scope | null) {
    this.#size = size
    this.scope = scope
  }

  add(crumb: RecordedBreadcrumb): void {
    if (this.#crumbs.length < this.#size) {
      this.#crumbs.push(crumb)
      return
    }
    this.#crumbs[this.#oldest] = crumb
    this.#oldest = (this.#oldest + 1) % this.#size
  }

  /** Oldest first. */
  list(): RecordedBreadcrumb[] {
    return [...this.#crumbs.slice(this.#oldest), ...this.#crumbs.slice(0, this.#oldest)]
  }
}

/** Characters of a message to keep in memory until an error needs it. */
export const HELD_MESSAGE = 1000

/** Stores one trail per scope, and one for work without a scope. */
export class Breadcrumbs {
  readonly #size: number
  readonly #enabled: boolean
  readonly #categories: ReadonlySet<string> | null
  readonly #scopes: Scopes
  readonly #now: () => number
  #outside: Trail | null = null
  /** Empty unless a diagnostic counts breadcrumbs. */
  readonly observers: BreadcrumbObserver[] = []

  constructor(options: Options, scopes: Scopes, now: () => number) {
    this.#enabled = options.enable_breadcrumbs
    this.#size = options.breadcrumb_buffer_size
    this.#categories = options.breadcrumb_categories && new Set(options.breadcrumb_categories)
    this.#scopes = scopes
    this.#now = now
  }

  /** Whether steps of this category are kept. Other steps need no description. */
  keeps(category: string): boolean {
    return this.#enabled && (this.#categories === null || this.#categories.has(category))
  }

  /**
   * Adds a step to the current trail, or to a given one. Returns the stored step, so that its end can be recorded
   * later. Redaction waits until an error is recorded, because nearly every trail is discarded.
   */
  add(step: Breadcrumb, trail?: Trail): RecordedBreadcrumb | null {
    if (!this.keeps(step.category)) return null
    const kept = trail ?? this.trail()
    const crumb = this.put(step, kept)
    for (const observer of this.observers) observer.added?.(crumb, kept)
    return crumb
  }

  /** Adds a step without notifying the observer, which was already called. */
  put({ category, message, duration_ms, metadata }: Breadcrumb, trail: Trail): RecordedBreadcrumb {
    const crumb = { category, message: held(message), occurred_at: this.#now(), duration_ms, metadata }
    trail.add(crumb)
    return crumb
  }

  /** Returns the object that the duration of a started step is added to, if an observer measures it. */
  started(crumb: RecordedBreadcrumb, trail: Trail): { duration_ms: number } | null {
    for (const observer of this.observers) {
      const measured = observer.started?.(crumb, trail)
      if (measured) return measured
    }
    return null
  }

  connecting(trail: Trail): void {
    for (const observer of this.observers) observer.connecting?.(trail)
  }

  /** Steps up to now, oldest first; null if there are none. */
  current(): RecordedBreadcrumb[] | null {
    const scope = this.#scopes.current()
    const trail = scope ? scope.trail : this.#outside
    return trail?.list() ?? null
  }

  /** Steps of work without a scope, oldest first. */
  outside(): RecordedBreadcrumb[] {
    return this.#outside?.list() ?? []
  }

  /** Trail of the current work, for steps that are recorded later from another context. */
  trail(): Trail {
    const scope = this.#scopes.current()
    if (scope) {
      scope.trail ??= new Trail(this.#size, scope)
      return scope.trail
    }
    this.#outside ??= new Trail(this.#size, null)
    return this.#outside
  }
}

/** A slice keeps the whole string in memory, so the kept part of a long message is copied. */
function held(message: string): string {
  return message.length > HELD_MESSAGE ? Buffer.from(message.slice(0, HELD_MESSAGE)).toString() : message
}
