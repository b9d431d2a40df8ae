import { VERSION } from './model/version.js'
import type { Settings } from './options.js'
import { TrackerInstance } from './tracker.js'

/** Copies of a module share it: ES modules, the CommonJS modules that Jest loads, and modules that were loaded again. */
const SHARED = Symbol.for(`faultboard ${VERSION}`)
const shared = globalThis as { [SHARED]?: TrackerInstance }
shared[SHARED] ??= new TrackerInstance()

/** Process-wide tracker. */
export const Tracker = shared[SHARED]
export type Tracker = TrackerInstance

/** Creates an independent tracker with the same API, for several trackers in one process or for tests. */
export function createTracker(settings: Settings): TrackerInstance {
  return new TrackerInstance(settings).start()
}

export type { Breadcrumb } from './capture/breadcrumbs/breadcrumb.js'
export type { LogErrorInput, RequestFacts } from './capture/fields.js'
export type { LoggedError } from './capture/log-error.js'
export type { RequestGuardEvent } from './diagnostics/request-guard/collector.js'
export { ConfigurationError, type ErrorCode, TrackerError } from './model/errors.js'
export type { Pagination } from './model/result.js'
export type { Severity } from './model/severity/severity.js'
export type { Status } from './model/workflow.js'
export type { LogContext, Options, Settings } from './options.js'
export type { ReportOptions } from './tracker.js'
export type { ErrorsListInput, ErrorsPage } from './triage/list/errors-list.js'
export type { Activity, Comment, ErrorRecord, ErrorSummary, Occurrence } from './triage/queries/error-record.js'
