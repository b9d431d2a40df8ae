import type { Breadcrumb, Breadcrumbs, RecordedBreadcrumb, Trail } from './breadcrumbs.js'

/** A step with a duration. It is in the trail from its start, so that unfinished steps are visible too. */
export interface PendingStep {
  readonly crumb: RecordedBreadcrumb
  readonly started_at: number
  /** Receives the duration too. */
  readonly measured: { duration_ms: number } | null
}

export function beginStep(breadcrumbs: Breadcrumbs, step: Breadcrumb, trail?: Trail): PendingStep | null {
  if (!breadcrumbs.keeps(step.category)) return null
  const kept = trail ?? breadcrumbs.trail()
  const crumb = breadcrumbs.put(step, kept)
  return { crumb, started_at: performance.now(), measured: breadcrumbs.started(crumb, kept) }
}

/** Only the first end of a step counts. It can arrive in any async context: the step references its trail. */
export function endStep({ crumb, started_at, measured }: PendingStep, more?: Record<string, unknown>): void {
  if (crumb.duration_ms !== undefined) return
  crumb.duration_ms = Math.round((performance.now() - started_at) * 100) / 100
  if (measured) measured.duration_ms += crumb.duration_ms
  if (more) crumb.metadata = { ...crumb.metadata, ...more }
}

/** Name or code of an error. Its message is omitted because it can contain values. */
export function codeOf(error: unknown): string {
  if (typeof error !== 'object' || error === null) return 'failed'
  const code = Object.getOwnPropertyDescriptor(error, 'code')?.value
  return typeof code === 'string' || typeof code === 'number' ? String(code) : 'failed'
}
