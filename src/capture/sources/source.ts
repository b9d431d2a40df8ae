import type { CaptureContext } from '../capture-context.js'
import type { LogErrorInput } from '../fields.js'

/** What a source of errors or breadcrumbs may use. */
export interface Reporter {
  readonly context: CaptureContext
  /**
   * Records what was thrown, unless a hook has recorded this very object already in the same request, or in what is
   * given as the occasion of it: a job. Never throws.
   */
  report(thrown: unknown, more?: Omit<LogErrorInput, 'exception'>, occasion?: object): void
}

/** Begins to listen for errors or steps of the host, and gives the function that ends it and puts everything back. */
export type Source = (reporter: Reporter) => () => void
