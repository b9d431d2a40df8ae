import type { Trail } from '../scope.js'
import type { Breadcrumb, RecordedBreadcrumb } from './breadcrumb.js'
import type { Breadcrumbs } from './breadcrumbs.js'

/** Breadcrumb of a call in progress. Added to the trail at the start, so that unfinished calls are visible too. */
export interface PendingBreadcrumb {
  readonly crumb: RecordedBreadcrumb
  readonly startedAt: number
  /** Total of the observer, to which the duration is added. */
  readonly measurement: { duration_ms: number } | null
}

export function startBreadcrumb(
  breadcrumbs: Breadcrumbs,
  breadcrumb: Breadcrumb,
  trail?: Trail,
): PendingBreadcrumb | null {
  if (!breadcrumbs.isEnabledFor(breadcrumb.category)) return null
  const target = trail ?? breadcrumbs.trail()
  const crumb = breadcrumbs.append(breadcrumb, target)
  return { crumb, startedAt: performance.now(), measurement: breadcrumbs.notifyStarted(crumb, target) }
}

/**
 * Adds the duration and the outcome. Only the first call counts. Works in any async context, because the breadcrumb is
 * already in its trail.
 */
export function endBreadcrumb(
  { crumb, startedAt, measurement }: PendingBreadcrumb,
  outcome?: Record<string, unknown>,
): void {
  if (crumb.duration_ms !== undefined) return
  crumb.duration_ms = Math.round((performance.now() - startedAt) * 100) / 100
  if (measurement) measurement.duration_ms += crumb.duration_ms
  if (outcome) crumb.metadata = { ...crumb.metadata, ...outcome }
}

/** Name or code of an error. Its message is omitted because it can contain values. */
export function errorCode(error: unknown): string {
  if (typeof error !== 'object' || error === null) return 'failed'
  const code = Object.getOwnPropertyDescriptor(error, 'code')?.value
  return typeof code === 'string' || typeof code === 'number' ? String(code) : 'failed'
}
