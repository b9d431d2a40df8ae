import type { Options } from '../../config/options.js'
import { type Scopes, Trail } from '../scope.js'
import type { Breadcrumb, RecordedBreadcrumb } from './breadcrumb.js'

/** Observes breadcrumbs of all scopes as they are added. Observers must not throw. */
export interface BreadcrumbObserver {
  /** Called with a complete breadcrumb from the host or a library. */
  added?(crumb: RecordedBreadcrumb, trail: Trail): void
  /** Called when a call of an instrumented driver starts. When the call ends, its duration is added to the result. */
  started?(crumb: RecordedBreadcrumb, trail: Trail): { duration_ms: number } | null
  /** Called when a connection is requested from a pool. */
  connecting?(trail: Trail): void
}

/** Characters of a message to keep in memory until an error is recorded. */
export const MAX_HELD_LENGTH = 1000

/** Stores one trail per scope, and one for work without a scope. */
export class Breadcrumbs {
  readonly #size: number
  readonly #enabled: boolean
  readonly #categories: ReadonlySet<string> | null
  readonly #scopes: Scopes
  readonly #now: () => number
  #unscopedTrail: Trail | null = null
  /** Empty unless a diagnostic counts breadcrumbs. */
  readonly observers: BreadcrumbObserver[] = []

  constructor(options: Options, scopes: Scopes, now: () => number) {
    this.#enabled = options.enable_breadcrumbs
    this.#size = options.breadcrumb_buffer_size
    this.#categories = options.breadcrumb_categories && new Set(options.breadcrumb_categories)
    this.#scopes = scopes
    this.#now = now
  }

  /** Checks whether breadcrumbs of this category are kept. Lets callers skip formatting all other breadcrumbs. */
  isEnabledFor(category: string): boolean {
    return this.#enabled && (this.#categories === null || this.#categories.has(category))
  }

  /**
   * Adds a breadcrumb to the current or the given trail. Returns the stored breadcrumb, so that its duration can be
   * added later. Redaction waits until an error is recorded, because nearly every trail is discarded.
   */
  add(breadcrumb: Breadcrumb, trail?: Trail): RecordedBreadcrumb | null {
    if (!this.isEnabledFor(breadcrumb.category)) return null
    const target = trail ?? this.trail()
    const crumb = this.append(breadcrumb, target)
    for (const observer of this.observers) observer.added?.(crumb, target)
    return crumb
  }

  /** Adds a breadcrumb whose observers were already notified. */
  append({ category, message, duration_ms, metadata }: Breadcrumb, trail: Trail): RecordedBreadcrumb {
    const crumb = { category, message: copyPrefix(message), occurred_at: this.#now(), duration_ms, metadata }
    trail.add(crumb)
    return crumb
  }

  /** Returns the object that receives the duration of a started call, or null if no observer measures it. */
  notifyStarted(crumb: RecordedBreadcrumb, trail: Trail): { duration_ms: number } | null {
    for (const observer of this.observers) {
      const measurement = observer.started?.(crumb, trail)
      if (measurement) return measurement
    }
    return null
  }

  notifyConnecting(trail: Trail): void {
    for (const observer of this.observers) observer.connecting?.(trail)
  }

  /** Breadcrumbs up to now, oldest first; null if there are none. */
  current(): RecordedBreadcrumb[] | null {
    const scope = this.#scopes.current()
    const trail = scope ? scope.trail : this.#unscopedTrail
    return trail?.list() ?? null
  }

  /** Breadcrumbs recorded outside of any scope, oldest first. */
  unscoped(): RecordedBreadcrumb[] {
    return this.#unscopedTrail?.list() ?? []
  }

  /** Trail of the current work, for breadcrumbs that are recorded later from another context. */
  trail(): Trail {
    const scope = this.#scopes.current()
    if (scope) {
      scope.trail ??= new Trail(this.#size, scope)
      return scope.trail
    }
    this.#unscopedTrail ??= new Trail(this.#size, null)
    return this.#unscopedTrail
  }
}

/** Copies the start of a long message, because a slice would keep the whole string in memory. */
function copyPrefix(message: string): string {
  return message.length > MAX_HELD_LENGTH ? Buffer.from(message.slice(0, MAX_HELD_LENGTH)).toString() : message
}
