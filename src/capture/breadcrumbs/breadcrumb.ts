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
