import { periodInput } from './analytics/sums/period.js'
import { collectOperations, DIAGNOSTICS } from './diagnostics/diagnostics.js'
import { asClass, asStream, type CommandTable, lazyOperations, type OperationTable } from './operation.js'

// Loads the operations on the first call instead of at startup, because they are a quarter of the package's code.
const lazily = lazyOperations(() => import('./lazy-operations.js'))

/** Operations that change errors. `LogError` is part of the tracker itself, because it must never throw. */
export const COMMANDS = {
  ResolveError: lazily('resolveError'),
  AssignError: lazily('assignError'),
  UnassignError: lazily('unassignError'),
  UpdatePriority: lazily('updatePriority'),
  SnoozeError: lazily('snoozeError'),
  UnsnoozeError: lazily('unsnoozeError'),
  UpdateStatus: lazily('updateStatus'),
  AddComment: lazily('addComment'),
  BatchResolveErrors: lazily('batchResolveErrors'),
  BatchAssignErrors: lazily('batchAssignErrors'),
  BatchUpdateStatus: lazily('batchUpdateStatus'),
  BatchUpdatePriority: lazily('batchUpdatePriority'),
  BatchSnoozeErrors: lazily('batchSnoozeErrors'),
  BatchDeleteErrors: lazily('batchDeleteErrors'),
  SaveView: lazily('saveView'),
  DeleteView: lazily('deleteView'),
  CreateApiToken: lazily('createApiToken'),
  RevokeApiToken: lazily('revokeApiToken'),
  CleanupErrors: lazily('cleanupErrors'),
  MuteError: lazily('muteError'),
  UnmuteError: lazily('unmuteError'),
  BatchMuteErrors: lazily('batchMuteErrors'),
  BatchUnmuteErrors: lazily('batchUnmuteErrors'),
  RetryDelivery: lazily('retryDelivery'),
  SendTestNotification: lazily('sendTestNotification'),
  /** Imports each line of an export once. Passes invalid lines to `reject`. */
  ImportErrors: lazily('importErrors'),
  ...collectOperations(DIAGNOSTICS, 'commands'),
} satisfies CommandTable

/** Read-only operations. */
export const QUERIES = {
  DashboardStats: lazily('dashboardStats'),
  Overview: lazily('overviewData'),
  /** `call` returns the errors of a page; `page` also returns the pagination. */
  ErrorsList: { call: lazily('errorsList'), page: lazily('errorsPage') },
  /** Exports all matching errors: `records` with all data for `ImportErrors`, `csv` as a table. */
  ExportErrors: { records: asStream(lazily('exportRecords')), csv: asStream(lazily('exportErrors')) },
  FindError: lazily('findError'),
  ErrorHistory: lazily('errorHistory'),
  ErrorUsers: lazily('errorUsers'),
  Applications: lazily('listApplications'),
  Environments: lazily('environments'),
  SavedViews: lazily('listSavedViews'),
  ApiTokens: lazily('listApiTokens'),
  ErrorChanges: lazily('errorChanges'),
  PlatformComparison: asClass(periodInput, lazily('comparePlatforms'), [
    'period',
    'errorRateByPlatform',
    'platformStabilityScores',
    'platformHealthSummary',
    'crossPlatformErrors',
  ]),
  ErrorCorrelation: asClass(periodInput, lazily('correlateErrors'), [
    'period',
    'errorsByVersion',
    'problematicReleases',
    'multiErrorUsers',
    'timeCorrelatedErrors',
  ]),
  ErrorAnalytics: lazily('errorAnalytics'),
  Releases: lazily('releaseList'),
  SimilarErrors: lazily('similarErrors'),
  CoOccurringErrors: lazily('coOccurringErrors'),
  ErrorCascades: lazily('errorCascades'),
  OccurrencePattern: lazily('analyzeCyclicalPattern'),
  ErrorBursts: lazily('detectBursts'),
  Deliveries: lazily('deliveries'),
  /** Changes by people, programs and the tracker. */
  AuditEntries: lazily('auditEntries'),
  ...collectOperations(DIAGNOSTICS, 'queries'),
} satisfies OperationTable

/** Operations that analyze many errors. */
export const SERVICES = {
  PatternDetector: {
    analyzeCyclicalPattern: lazily('analyzeCyclicalPattern'),
    detectBursts: lazily('detectBursts'),
  },
  CascadeDetector: lazily('detectCascades'),
  BaselineCalculator: { calculateAllBaselines: lazily('calculateAllBaselines') },
} satisfies OperationTable
