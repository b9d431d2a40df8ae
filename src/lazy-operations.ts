/** All operations, loaded with the first call to a tracker. `operations.ts` defines their public names. */

import * as v from 'valibot'
import { defineCommand, defineOperation } from './operation.js'
import { exportRecords as exportAllRecords } from './transfer/export-records.js'
import { type ImportInput, importRecords } from './transfer/import-records.js'
import { errorsListInput } from './triage/list/errors-list.js'

export { calculateAllBaselines } from './analytics/baselines/baseline-calculator.js'
export { detectCascades } from './analytics/cascades/cascade-detector.js'
export { errorCascades } from './analytics/cascades/error-cascades.js'
export { coOccurringErrors } from './analytics/co-occurring-errors.js'
export { correlateErrors } from './analytics/correlation/error-correlation.js'
export { dashboardStats } from './analytics/overview/dashboard-stats.js'
export { overviewData } from './analytics/overview/overview.js'
export { analyzeCyclicalPattern, detectBursts } from './analytics/patterns/pattern-detector.js'
export { comparePlatforms } from './analytics/platforms/platform-comparison.js'
export { releaseList } from './analytics/releases/release-list.js'
export { similarErrors } from './analytics/similar-errors.js'
export { errorAnalytics } from './analytics/trends/error-trends.js'
export { auditEntries } from './audit/audit-entries.js'
export { deliveries } from './notifications/delivery/deliveries.js'
export { retryDelivery } from './notifications/delivery/retry-delivery.js'
export { sendTestNotification } from './notifications/delivery/test-notification.js'
export { createApiToken, listApiTokens, revokeApiToken } from './people/api-tokens.js'
export { addComment } from './triage/commands/add-comment.js'
export { assignError, unassignError } from './triage/commands/assign-error.js'
export {
  batchAssignErrors,
  batchDeleteErrors,
  batchMuteErrors,
  batchResolveErrors,
  batchSnoozeErrors,
  batchUnmuteErrors,
  batchUpdatePriority,
  batchUpdateStatus,
} from './triage/commands/batch-errors.js'
export { cleanupErrors } from './triage/commands/cleanup-errors.js'
export { muteError, unmuteError } from './triage/commands/mute-error.js'
export { resolveError } from './triage/commands/resolve-error.js'
export { snoozeError, unsnoozeError } from './triage/commands/snooze-error.js'
export { updatePriority } from './triage/commands/update-priority.js'
export { updateStatus } from './triage/commands/update-status.js'
export { errorsList, errorsPage } from './triage/list/errors-list.js'
export { exportErrors } from './triage/list/export-errors.js'
export { listApplications } from './triage/list/list-applications.js'
export { environments } from './triage/list/list-environments.js'
export { errorChanges } from './triage/queries/error-changes.js'
export { errorHistory } from './triage/queries/error-history.js'
export { errorUsers } from './triage/queries/error-users.js'
export { findError } from './triage/queries/find-error.js'
export { deleteView, listSavedViews, saveView } from './triage/saved-views.js'

export const importErrors = defineCommand({
  input: v.object({
    lines: v.custom<ImportInput['lines']>(isAsyncIterable, 'must be an async iterable of lines'),
    reject: v.optional(v.custom<NonNullable<ImportInput['reject']>>(isFunction, 'must be a function')),
  }),
  run: (context, { lines, reject = () => {} }) => importRecords(context, lines, reject),
  audit: (_input, { created, added }) => (created + added === 0 ? null : { action: 'import', count: created + added }),
})

export const exportRecords = defineOperation({
  input: errorsListInput,
  run: async (context, filter) => exportAllRecords(context, filter),
})

function isAsyncIterable(value: unknown): boolean {
  return typeof value === 'object' && value !== null && Symbol.asyncIterator in value
}

function isFunction(value: unknown): boolean {
  return typeof value === 'function'
}
