import type { Options } from '../../config/options.js'
import type { Scope, Scopes } from '../scope.js'

/** One step of what happened before an error. */
export interface Breadcrumb {
  /** What kind of step it was: `http`, `sql`, `console`, `log`, `deprecation`, or a word of the host's own. */
  category: string
  message: string
  duration_ms?: number | undefined
  metadata?: Record<string, unknown> | undefined
}

/** As it is kept: with the time at which it was added. */
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
  /** Null for the trail of the work that has none. */
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

/** How much of a message is held until it is known whether it will be needed. */
export const HELD_MESSAGE = 1000

/** Keeps the trail of every scope, and one for the work that has no scope. */
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

  /** Whether steps of this kind are kept: what is not need not be described. */
  keeps(category: string): boolean {
    return this.#enabled && (this.#categories === null || this.#categories.has(category))
  }

  /**
   * Leaves a step in the trail of the work that is going on, or in one that was asked for before. Gives the step as it
   * is kept, so that its end can still be written into it. Redaction waits until an error is recorded: nearly every
   * trail is thrown away unseen.
   */
  add(step: Breadcrumb, trail?: Trail): RecordedBreadcrumb | null {
    if (!this.keeps(step.category)) return null
    const kept = trail ?? this.trail()
    const crumb = this.put(step, kept)
    for (const observer of this.observers) observer.added?.(crumb, kept)
    return crumb
  }

  /** The same for steps that are looked at where they are made. */
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

  /** What led up to now, oldest first; null when there is nothing. */
  current(): RecordedBreadcrumb[] | null {
    const scope = this.#scopes.current()
    const trail = scope ? scope.trail : this.#outside
    return trail?.list() ?? null
  }

  /** What work without a scope left, oldest first. */
  outside(): RecordedBreadcrumb[] {
    return this.#outside?.list() ?? []
  }

  /** The trail of the work that is going on, for steps that will be told of from elsewhere. */
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

/** A slice of a string keeps the whole of it in memory, so what is left of a long message is copied. */
function held(message: string): string {
  return message.length > HELD_MESSAGE ? Buffer.from(message.slice(0, HELD_MESSAGE)).toString() : message
}
