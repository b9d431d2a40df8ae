import { createHash } from 'node:crypto'
import type { Context } from '../context.js'
import { SEVERITIES, type Severity } from '../model/severity.js'
import { MINUTE } from '../model/time.js'
import { tryCooldown } from './cooldowns.js'
import { dispatchDue } from './dispatch.js'
import type { BaselineNotice } from './notice.js'
import { addressingOf, type Tidings, writeDeliveries } from './write-deliveries.js'

/** A type of error that comes more often than is usual for it on a platform. */
export interface Alarm {
  application_id: number
  error_type: string
  platform: string
  count: number
  usual: number
  std_dev: number
  deviations: number | null
  severity: Severity
}

/** Tells of types of errors that are above their baselines, each at most once in its cooldown; gives how many. */
export async function alertOn(context: Context, alarms: readonly Alarm[]): Promise<number> {
  const { config, database, now } = context
  if (!config.enable_baseline_alerts) return 0
  const addressed = addressingOf(config)
  let told = 0
  for (const group of byType(alarms)) {
    const severity = gravestOf(group)
    if (!config.baseline_alert_severities.includes(severity)) continue
    const at = now()
    const tidings = await tidingsOf(context, group, severity, at)
    const deliveries = addressed(tidings, at)
    if (deliveries.length === 0) continue
    const written = await database.write(async (trx) => {
      const until = at + config.baseline_alert_cooldown_minutes * MINUTE
      if (!(await tryCooldown(trx, database.dialect, { name: cooldownOf(group), now: at, until }))) return false
      await writeDeliveries(trx, database.dialect, deliveries, at)
      return true
    })
    if (written) told++
  }
  if (told > 0) await dispatchDue(context)
  return told
}

type Group = readonly [Alarm, ...Alarm[]]

function byType(alarms: readonly Alarm[]): Group[] {
  const groups = new Map<string, [Alarm, ...Alarm[]]>()
  for (const alarm of alarms) {
    const key = `${alarm.application_id} ${alarm.error_type}`
    const group = groups.get(key)
    if (group) group.push(alarm)
    else groups.set(key, [alarm])
  }
  return [...groups.values()]
}

function gravestOf(group: Group): Severity {
  return SEVERITIES.find((severity) => group.some((alarm) => alarm.severity === severity)) ?? 'low'
}

/** The name of a type may be longer than that of a cooldown. */
function cooldownOf([{ application_id, error_type }]: Group): string {
  return `baseline:${application_id}:${createHash('sha256').update(error_type).digest('hex').slice(0, 32)}`
}

async function tidingsOf(
  { database, config }: Context,
  group: Group,
  severity: Severity,
  at: number,
): Promise<Tidings> {
  const [{ application_id, error_type }] = group
  const application = await database.read
    .selectFrom('faultboard_applications')
    .select('name')
    .where('id', '=', application_id)
    .executeTakeFirst()
  const application_name = application?.name ?? ''
  const notice: BaselineNotice = {
    event: 'baseline',
    application_name,
    environment: application_name === config.application_name ? config.environment : null,
    at,
    severity,
    application_id,
    error_type,
    platforms: group.map(({ platform, count, usual, std_dev, deviations }) => ({
      ...{ platform, count, usual, std_dev, deviations },
    })),
  }
  return { key: `${cooldownOf(group)}:${at}`, notice, error_id: null, application_id }
}
