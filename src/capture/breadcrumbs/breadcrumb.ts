/** Something that happened before an error, such as a query, a request or a log entry. */
export interface Breadcrumb {
  /** Kind of breadcrumb: `http`, `sql`, `console`, `log`, `deprecation`, or a custom word. */
  category: string
  message: string
  duration_ms?: number | undefined
  metadata?: Record<string, unknown> | undefined
}

/** A breadcrumb with the time at which it was added. */
export interface RecordedBreadcrumb extends Breadcrumb {
  occurred_at: number
}
