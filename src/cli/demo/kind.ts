import type { Severity } from '../../model/severity/severity.js'
import type { Rhythm } from './rhythm.js'

/**
 * One kind of error in a sample application, as data. Strings contain placeholders such as {order} or {uuid}, which are
 * filled for every occurrence; see sample-error.ts.
 */
export interface SampleKind {
  /** Key for references from other tables. */
  readonly key: string
  readonly type: string
  readonly message: string
  /**
   * Frames from newest to oldest, as `function file:line:column`. Paths of application files are relative. Frames of the
   * shop have code in backticks instead of a position.
   */
  readonly at: readonly string[]
  readonly per_day: number
  readonly rhythm?: Rhythm
  readonly platform?: 'iOS' | 'Android' | 'Web' | 'API'
  /** Version that introduced the error, and version that fixed it. */
  readonly since?: string
  readonly until?: string
  /** Start of an error that no version introduced, such as an outage. */
  readonly starts_days_ago?: number
  /** Later version in which the error regressed. */
  readonly regressedIn?: string
  readonly code?: string
  readonly severity?: Severity
  readonly unhandled?: true
  readonly cause?: SampleCause
  /** Method and path, for errors in a request. */
  readonly route?: string
  readonly params?: Readonly<Record<string, unknown>>
  readonly context?: Readonly<Record<string, unknown>>
  readonly tags?: Readonly<Record<string, string>>
}

export interface SampleCause {
  readonly type: string
  readonly message: string
  readonly at: readonly string[]
  readonly code?: string
  readonly cause?: SampleCause
}
