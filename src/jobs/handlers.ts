import { calculateAllBaselines } from '../analytics/baselines/baseline-calculator.js'
import { alertableSpikes } from '../analytics/baselines/spiking-errors.js'
import { detectCascades } from '../analytics/cascades/cascade-detector.js'
import { type AssignedErrors, assignedErrors, digestFigures } from '../analytics/digest/digest.js'
import { runAs } from '../audit/audit-log.js'
import { deleteOldAuditEntries } from '../audit/retention.js'
import type { Context } from '../context.js'
import { type ChangeOrigin, SYSTEM_ACTOR } from '../model/people/audit.js'
import { deleteOldDeliveries } from '../notifications/delivery/expire-deliveries.js'
import { claimClosedHour, writeBaselineAlerts } from '../notifications/rules/baseline-alerts.js'
import { isDigestEnabled, sendDigest } from '../notifications/send-digest.js'
import { deleteOldPeople } from '../people/known-people.js'
import { ownApplicationId } from '../store/applications.js'
import { deleteOldBudgetRows } from '../store/counters/rejections.js'
import { findRecipientNames } from '../store/email-addresses.js'
import { deleteOrphanedMarkers } from '../transfer/orphaned-markers.js'
import { cleanupErrors } from '../triage/commands/cleanup-errors.js'
import { lastDigest } from './digest-schedule.js'
import type { JobName, RunningJob } from './engine.js'

/** One week, because weekdays and weekends differ. */
const CASCADE_LOOKBACK_HOURS = 7 * 24

const SYSTEM: ChangeOrigin = { kind: 'system', actor: SYSTEM_ACTOR, address: null }

/** Handlers of all jobs. Every engine runs the same handlers. */
export const HANDLERS: Record<JobName, (context: Context, job: RunningJob) => Promise<unknown>> = {
  record: ({ recorder }, { data }) => recorder.recordEnqueuedBatch(String(data.batch)),
  cleanup: async (context) => {
    await runAs(context, SYSTEM, (ownContext) => cleanupErrors.run(ownContext, {}))
    await deleteOldAuditEntries(context)
    await deleteOldPeople(context)
    await deleteOldDeliveries(context)
    await deleteOldBudgetRows(context.database, context.now())
    for (const deleteOutdated of context.retention) await deleteOutdated(context)
    await deleteOrphanedMarkers(context)
  },
  baselines: (context) => calculateAllBaselines.run(context, {}),
  cascades: (context) => detectCascades.run(context, { lookback_hours: CASCADE_LOOKBACK_HOURS }),
  baseline_alerts: sendBaselineAlerts,
  digest: runDigest,
}

/** Compares the current hour with the baselines, and each finished hour once. */
export async function sendBaselineAlerts(context: Context): Promise<void> {
  const application_id = await ownApplicationId(context)
  if (application_id === null) return
  const scope = { application_id, environment: undefined }
  await writeBaselineAlerts(context, await alertableSpikes(context, scope))
  const closedHour = await claimClosedHour(context, application_id)
  if (closedHour !== null)
    await writeBaselineAlerts(context, await alertableSpikes(context, scope, closedHour), closedHour)
}

async function runDigest(context: Context, { data }: RunningJob): Promise<void> {
  const { config, now } = context
  if (config.digest_frequency === 'never' || !isDigestEnabled(context)) return
  const at = lastDigest(Number(data.due_at), now(), config)
  const application_id = (await ownApplicationId(context)) ?? NO_APPLICATION
  const digest = await digestFigures(context, config.digest_frequency, { at, application_id })
  const assigned = new Map<string, AssignedErrors>()
  for (const [recipient, names] of await findRecipientNames(context.database.read, config))
    assigned.set(recipient, await assignedErrors(context, names, { ...digest, application_id }))
  await sendDigest(context, digest, assigned)
}

/** Record ids start at 1. An application without errors has no record yet. */
const NO_APPLICATION = 0
