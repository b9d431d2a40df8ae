import type { CaptureContext } from '../capture-context.js'
import type { LogErrorInput } from '../fields.js'

/** Dependencies of a source of errors or breadcrumbs. */
export interface Reporter {
  readonly context: CaptureContext
  /**
   * Records a thrown value, unless a hook has already recorded it in the same request. `execution` identifies work such as
   * a job and then replaces the request. Never throws.
   */
  report(thrown: unknown, details?: Omit<LogErrorInput, 'exception'>, execution?: object): void
}

/** Starts to capture errors or breadcrumbs. Returns the function that stops it and restores the original state. */
export type Source = (reporter: Reporter) => () => void
