import type { Trail } from '../scope.js'
import type { Breadcrumb, RecordedBreadcrumb } from './breadcrumb.js'
import type { Breadcrumbs } from './breadcrumbs.js'

/** Step with a duration. Added to the trail at its start, so that unfinished steps are visible too. */
export interface PendingStep {
  readonly crumb: RecordedBreadcrumb
  readonly startedAt: number
  /** Total of the observer, to which the duration is added. */
  readonly measurement: { duration_ms: number } | null
}

export function beginStep(breadcrumbs: Breadcrumbs, step: Breadcrumb, trail?: Trail): PendingStep | null {
  if (!breadcrumbs.isEnabledFor(step.category)) return null
  const target = trail ?? breadcrumbs.trail()
  const crumb = breadcrumbs.append(step, target)
  return { crumb, startedAt: performance.now(), measurement: breadcrumbs.notifyStarted(crumb, target) }
}

/**
 * Records the first end of a step and ignores repeats. Works in any async context, because the step references its
 * trail.
 */
export function endStep({ crumb, startedAt, measurement }: PendingStep, outcome?: Record<string, unknown>): void {
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
