import * as v from 'valibot'
import { calculateAllBaselines } from './analytics/baselines/baseline-calculator.js'
import { detectCascades } from './analytics/cascades/cascade-detector.js'
import { errorCascades } from './analytics/cascades/error-cascades.js'
import { coOccurringErrors } from './analytics/co-occurring-errors.js'
import { correlateErrors, ErrorCorrelation } from './analytics/correlation/error-correlation.js'
import { dashboardStats } from './analytics/overview/dashboard-stats.js'
import { overviewData } from './analytics/overview/overview.js'
import { analyzeCyclicalPattern, detectBursts } from './analytics/patterns/pattern-detector.js'
import { comparePlatforms, PlatformComparison } from './analytics/platforms/platform-comparison.js'
import { releaseList } from './analytics/releases/release-list.js'
import { similarErrors } from './analytics/similar-errors.js'
import { errorAnalytics } from './analytics/trends/error-trends.js'
import { DIAGNOSTICS, operationsOf } from './diagnostics/diagnostics.js'
import { deliveries } from './notifications/delivery/deliveries.js'
import { retryDelivery } from './notifications/delivery/retry-delivery.js'
import { sendTestNotification } from './notifications/delivery/test-notification.js'
import { asClass, asStream, defineOperation, type OperationTable } from './operation.js'
import type { ImportInput } from './transfer/import-records.js'
import { addComment } from './triage/commands/add-comment.js'
import { assignError, unassignError } from './triage/commands/assign-error.js'
import {
  batchAssignErrors,
  batchDeleteErrors,
  batchMuteErrors,
  batchResolveErrors,
  batchSnoozeErrors,
  batchUnmuteErrors,
  batchUpdatePriority,
  batchUpdateStatus,
} from './triage/commands/batch-errors.js'
import { cleanupErrors } from './triage/commands/cleanup-errors.js'
import { muteError, unmuteError } from './triage/commands/mute-error.js'
import { resolveError } from './triage/commands/resolve-error.js'
import { snoozeError, unsnoozeError } from './triage/commands/snooze-error.js'
import { updatePriority } from './triage/commands/update-priority.js'
import { updateStatus } from './triage/commands/update-status.js'
import { errorsList, errorsListInput, errorsPage } from './triage/list/errors-list.js'
import { exportErrors } from './triage/list/export-errors.js'
import { listApplications } from './triage/list/list-applications.js'
import { errorChanges } from './triage/queries/error-changes.js'
import { errorHistory } from './triage/queries/error-history.js'
import { errorUsers } from './triage/queries/error-users.js'
import { findError } from './triage/queries/find-error.js'
import { deleteView, listSavedViews, saveView } from './triage/saved-views.js'

// The transfer of whole errors is loaded on first use, because most processes never need it.
const importErrors = defineOperation({
  input: v.object({
    lines: v.custom<ImportInput['lines']>(isAsyncIterable, 'must be an async iterable of lines'),
    reject: v.optional(v.custom<NonNullable<ImportInput['reject']>>(isFunction, 'must be a function')),
  }),
  async run(context, { lines, reject = () => {} }) {
    return (await import('./transfer/import-records.js')).importRecords(context, lines, reject)
  },
})

const exportRecords = defineOperation({
  input: errorsListInput,
  async run(context, filter) {
    return (await import('./transfer/export-records.js')).exportRecords(context, filter)
  },
})

/** Operations that change errors. `LogError` is part of the tracker itself, because it must never throw. */
export const COMMANDS = {
  ResolveError: resolveError,
  AssignError: assignError,
  UnassignError: unassignError,
  UpdatePriority: updatePriority,
  SnoozeError: snoozeError,
  UnsnoozeError: unsnoozeError,
  UpdateStatus: updateStatus,
  AddComment: addComment,
  BatchResolveErrors: batchResolveErrors,
  BatchAssignErrors: batchAssignErrors,
  BatchUpdateStatus: batchUpdateStatus,
  BatchUpdatePriority: batchUpdatePriority,
  BatchSnoozeErrors: batchSnoozeErrors,
  BatchDeleteErrors: batchDeleteErrors,
  SaveView: saveView,
  DeleteView: deleteView,
  CleanupErrors: cleanupErrors,
  MuteError: muteError,
  UnmuteError: unmuteError,
  BatchMuteErrors: batchMuteErrors,
  BatchUnmuteErrors: batchUnmuteErrors,
  RetryDelivery: retryDelivery,
  SendTestNotification: sendTestNotification,
  /** Imports the lines of an export, each once. Invalid lines are passed to `reject`. */
  ImportErrors: importErrors,
  ...operationsOf(DIAGNOSTICS, 'commands'),
} satisfies OperationTable

/** Operations that read. */
export const QUERIES = {
  DashboardStats: dashboardStats,
  Overview: overviewData,
  /** `call` returns the errors of a page, `page` also its pagination. */
  ErrorsList: { call: errorsList, page: errorsPage },
  /** All matching errors: `records` completely, for `ImportErrors`, and `csv` as a table. */
  ExportErrors: { records: asStream(exportRecords), csv: asStream(exportErrors) },
  FindError: findError,
  ErrorHistory: errorHistory,
  ErrorUsers: errorUsers,
  Applications: listApplications,
  SavedViews: listSavedViews,
  ErrorChanges: errorChanges,
  PlatformComparison: asClass(comparePlatforms, PlatformComparison),
  ErrorCorrelation: asClass(correlateErrors, ErrorCorrelation),
  ErrorAnalytics: errorAnalytics,
  Releases: releaseList,
  SimilarErrors: similarErrors,
  CoOccurringErrors: coOccurringErrors,
  ErrorCascades: errorCascades,
  OccurrencePattern: analyzeCyclicalPattern,
  ErrorBursts: detectBursts,
  Deliveries: deliveries,
  ...operationsOf(DIAGNOSTICS, 'queries'),
} satisfies OperationTable

/** Operations that analyze many errors at once. */
export const SERVICES = {
  PatternDetector: { analyzeCyclicalPattern, detectBursts },
  CascadeDetector: detectCascades,
  BaselineCalculator: { calculateAllBaselines },
} satisfies OperationTable

function isAsyncIterable(value: unknown): boolean {
  return typeof value === 'object' && value !== null && Symbol.asyncIterator in value
}

function isFunction(value: unknown): boolean {
  return typeof value === 'function'
}
