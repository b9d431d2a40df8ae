import type { Severity } from '../../model/severity.js'
import type { Rhythm } from './rhythm.js'

/**
 * One way in which a sample application fails, as data. Texts hold placeholders such as {order} or {uuid}, which are
 * filled anew for every occurrence; fill.ts lists them.
 */
export interface Kind {
  /** A name for the other tables to refer to. */
  readonly key: string
  readonly type: string
  readonly message: string
  /** Frames from the newest to the oldest, as `function file:line:column`; files of the application are relative. */
  readonly at: readonly string[]
  readonly per_day: number
  readonly rhythm?: Rhythm
  readonly platform?: 'iOS' | 'Android' | 'Web' | 'API'
  /** The version that brought it, and the one that mended it. */
  readonly since?: string
  readonly until?: string
  /** The later version in which it came back. */
  readonly returns?: string
  readonly code?: string
  readonly severity?: Severity
  readonly unhandled?: true
  readonly cause?: Reason
  /** Method and path, for errors that happen in a request. */
  readonly route?: string
  readonly params?: Readonly<Record<string, unknown>>
  readonly context?: Readonly<Record<string, unknown>>
}

export interface Reason {
  readonly type: string
  readonly message: string
  readonly at: readonly string[]
  readonly code?: string
  readonly cause?: Reason
}
