import type * as breadcrumb from './capture/breadcrumbs/breadcrumb.js'
import type * as fields from './capture/fields.js'
import type * as guard from './diagnostics/request-guard/collector.js'
import type { AnyCase } from './model/input/spelling.js'
import { VERSION } from './model/version.js'
import type { Settings } from './options.js'
import { TrackerInstance } from './tracker.js'
import type * as list from './triage/list/errors-list.js'

/** Key of the tracker that all copies of this module share: ES modules, CommonJS modules and modules loaded again. */
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

export type Breadcrumb = AnyCase<breadcrumb.Breadcrumb>
export type ErrorsListInput = AnyCase<list.ErrorsListInput>
export type LogErrorInput = AnyCase<fields.LogErrorInput>
export type RequestFacts = AnyCase<fields.RequestFacts>
export type RequestGuardEvent = AnyCase<guard.RequestGuardEvent>

export type { LoggedError } from './capture/log-error.js'
export { ConfigurationError, type ErrorCode, TrackerError } from './model/errors.js'
export type { Pagination } from './model/result.js'
export type { Severity } from './model/severity/severity.js'
export type { Status } from './model/workflow.js'
export type { LogContext, Options, Settings } from './options.js'
export type { ReportOptions } from './tracker.js'
export type { ErrorsPage } from './triage/list/errors-list.js'
export type { Activity, Comment, ErrorRecord, ErrorSummary, Occurrence } from './triage/queries/error-record.js'
