import type { CaptureContext } from '../capture/capture-context.js'
import type { Reporter } from '../capture/sources/source.js'
import type { Options, OptionTable } from '../config/options.js'
import type { Context } from '../context.js'
import type { DashboardPart } from '../dashboard/define.js'
import type { CommandTable, OperationTable } from '../operation.js'

export interface CollectorSetup extends Reporter {
  /** False in a thread that must not use the database. */
  readonly canWrite: boolean
}

/** Gives a diagnostic access to its tracker, even before the start and after a restart. */
export interface TrackerAccess {
  /** Equals `context.owner` of the tracker. Key for data that the host passes before the start. */
  readonly owner: object
  /** Runs a callback with the running tracker. Never throws. Does nothing after the shutdown or near the stack limit. */
  run(callback: (context: CaptureContext) => void): void
}

/** Optional feature of the tracker, turned on by its options. */
export interface Diagnostic {
  readonly name: string
  /** Options of the diagnostic, in addition to the core options. */
  readonly options: OptionTable
  /** Options that must be on to collect data and to enable the pages. */
  readonly needs: readonly string[]
  /** Overrides when `collect` runs. Default: all of `needs` are on. */
  collectsWith?(config: Options): boolean
  /** Hooks into the capture path when a tracker starts. Returns a function that removes the hooks. */
  collect?(setup: CollectorSetup): () => void
  /** Members that the diagnostic adds to the tracker itself, whether or not it is on. */
  api?(tracker: TrackerAccess): object
  /** Operations by their names in `Tracker.Commands` and `Tracker.Queries`. */
  readonly commands?: CommandTable
  readonly queries?: OperationTable
  /** Loads the pages, actions and downloads with the dashboard. They return 404 unless all of `needs` are on. */
  page?(): Promise<DashboardPart>
  /** Deletes outdated data. Runs with the daily cleanup, even while the diagnostic is off. */
  retention?(context: Context): Promise<void>
}

export function defineDiagnostic<Definition extends Diagnostic>(definition: Definition): Definition {
  return definition
}
