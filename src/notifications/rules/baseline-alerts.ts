import { createHash } from 'node:crypto'
import type { Context } from '../../context.js'
import { SEVERITIES, type Severity } from '../../model/severity/severity.js'
import { HOUR, MINUTE, startOfHour } from '../../model/time.js'
import { advanceCheckpoint, BASELINES_COMPARED, readCheckpoint } from '../../store/checkpoints.js'
import type { BaselineNotice } from '../content/notice.js'
import { type Announcement, createDeliveryPlanner, writeDeliveries } from '../delivery/plan-deliveries.js'
import { startCooldowns, tryStartCooldown } from './cooldowns.js'
import { applyHourlyLimit } from './hourly-limit.js'

/** An error type that exceeds its baseline on a platform in an environment. */
export interface BaselineExcess {
  application_id: number
  environment: string
  error_type: string
  platform: string
  count: number
  mean: number
  std_dev: number
  deviations: number | null
  severity: Severity
}

/**
 * Sends an alert for every error type above its baseline, at most once per cooldown. After the hour has ended, skips
 * types that already alerted during that hour. Returns the number of alerts.
 */
export async function writeBaselineAlerts(
  context: Context,
  excesses: readonly BaselineExcess[],
  hour = startOfHour(context.now()),
): Promise<number> {
  const { config, database, now } = context
  if (!config.enable_baseline_alerts) return 0
  const planDeliveries = createDeliveryPlanner(config)
  let sentAlerts = 0
  for (const group of groupByType(excesses)) {
    const severity = highestSeverity(group)
    if (!config.baseline_alert_severities.includes(severity)) continue
    const at = now()
    const announcement = await createAnnouncement(context, group, { severity, at, hour })
    const deliveries = planDeliveries(announcement, at)
    if (deliveries.length === 0) continue
    const isWritten = await database.write(async (trx) => {
      const name = cooldownName(group)
      const hourCooldown = { name: `${name}:hour`, until: hour + 2 * HOUR }
      const isHourOver = at >= hour + HOUR
      if (isHourOver && !(await tryStartCooldown(trx, database.dialect, { ...hourCooldown, now: hour + HOUR })))
        return false
      const until = at + config.baseline_alert_cooldown_minutes * MINUTE
      if (!(await tryStartCooldown(trx, database.dialect, { name, now: at, until }))) return false
      if (!isHourOver) await startCooldowns(trx, database.dialect, [hourCooldown.name], hourCooldown.until)
      const limit = config.notification_max_per_hour
      const limited = await applyHourlyLimit(trx, database.dialect, deliveries, { limit, now: at })
      if (limited.overLimitCount > 0) context.reject('notification_max_per_hour', limited.overLimitCount)
      await writeDeliveries(trx, database.dialect, limited.deliveries, at)
      context.outbox.noteWrite()
      return true
    })
    if (isWritten) sentAlerts++
  }
  return sentAlerts
}

/** Allows the last occurrences of an hour to be written. */
const CLOSING_DELAY_MS = MINUTE

/** Returns the last closed hour, or null if it was claimed before. Covers bursts in the last minute of an hour. */
export async function claimClosedHour({ database, now }: Context, application_id: number): Promise<number | null> {
  const closedHour = startOfHour(now() - CLOSING_DELAY_MS) - HOUR
  const name = `${BASELINES_COMPARED}${application_id}`
  return database.write(async (trx) => {
    if ((await readCheckpoint(trx, database.dialect, name, 0)) >= closedHour) return null
    await advanceCheckpoint(trx, name, closedHour)
    return closedHour
  })
}

type Group = readonly [BaselineExcess, ...BaselineExcess[]]

function groupByType(excesses: readonly BaselineExcess[]): Group[] {
  const groups = new Map<string, [BaselineExcess, ...BaselineExcess[]]>()
  for (const excess of excesses) {
    const key = `${excess.application_id} ${excess.environment}\n${excess.error_type}`
    const group = groups.get(key)
    if (group) group.push(excess)
    else groups.set(key, [excess])
  }
  return [...groups.values()]
}

function highestSeverity(group: Group): Severity {
  return SEVERITIES.find((severity) => group.some((excess) => excess.severity === severity)) ?? 'low'
}

/** Hashed because an error type can be longer than the name of a cooldown. */
function cooldownName([{ application_id, environment, error_type }]: Group): string {
  const type = `${environment}\n${error_type}`
  return `baseline:${application_id}:${createHash('sha256').update(type).digest('hex').slice(0, 32)}`
}

/**
 * Returns true if server errors alone exceed the baseline. Clients must not trigger incidents by sending many errors.
 */
async function isServerAboveBaseline({ database, config }: Context, group: Group, hour: number): Promise<boolean> {
  const [{ application_id, environment, error_type }] = group
  const rows = await database.read
    .selectFrom('faultboard_errors as e')
    .innerJoin('faultboard_error_hours as h', 'h.error_id', 'e.id')
    .select(({ fn }) => ['h.platform', fn.sum<number>('h.count').as('count')])
    .where('e.application_id', '=', application_id)
    .where('e.environment', '=', environment)
    .where('e.error_type', '=', error_type)
    .where('e.source', 'is', null)
    .where('h.hour', '=', hour)
    .groupBy('h.platform')
    .execute()
  const counts = new Map(rows.map(({ platform, count }) => [platform, Number(count)]))
  return group.some(
    ({ platform, mean, std_dev }) =>
      (counts.get(platform) ?? 0) > mean + config.baseline_alert_threshold_std_devs * std_dev,
  )
}

async function createAnnouncement(
  context: Context,
  group: Group,
  { severity, at, hour }: { severity: Severity; at: number; hour: number },
): Promise<Announcement> {
  const { database } = context
  const [{ application_id, environment, error_type }] = group
  const application = await database.read
    .selectFrom('faultboard_applications')
    .select('name')
    .where('id', '=', application_id)
    .executeTakeFirst()
  const application_name = application?.name ?? ''
  const notice: BaselineNotice = {
    event: 'baseline',
    application_name,
    environment,
    at,
    severity,
    application_id,
    error_type,
    hour_started_at: hour,
    platforms: group.map(({ platform, count, mean, std_dev, deviations }) => ({
      ...{ platform, count, mean, std_dev, deviations },
    })),
  }
  const isFromClient = !(await isServerAboveBaseline(context, group, hour))
  return { key: `${cooldownName(group)}:${at}`, notice, error_id: null, application_id, isFromClient }
}
