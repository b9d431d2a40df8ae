import { SEVERITIES } from '../../model/severity/severity.js'
import { HOUR, startOfHour } from '../../model/time.js'
import { addUsage, type BudgetKey, closePeriod } from '../../store/counters/budget-usage.js'
import type { Dialect } from '../../store/dialect.js'
import type { Transaction } from '../../store/kysely.js'
import type { Schema } from '../../store/schema.js'
import type { NoticeEvent } from '../content/notice.js'
import type { NewDelivery } from '../delivery/plan-deliveries.js'

/** Excludes digests, tests and summaries, which are rare, and resolves, which must always follow their trigger. */
const LIMITED_EVENTS: readonly NoticeEvent[] = ['new', 'reopened', 'milestone', 'baseline']

export interface LimitedDeliveries {
  deliveries: NewDelivery[]
  /** Number of deliveries that wait for the summary. */
  overLimitCount: number
}

/**
 * Applies `notification_max_per_hour` to new deliveries. Sends the most severe; the rest wait for the summary at the
 * end of the hour. Locks the usage rows of each channel until the transaction ends, so that the limit holds across
 * processes.
 */
export async function applyHourlyLimit(
  trx: Transaction<Schema>,
  dialect: Dialect,
  deliveries: readonly NewDelivery[],
  { limit, now }: { limit: number; now: number },
): Promise<LimitedDeliveries> {
  const routes = new Map<string, NewDelivery[]>()
  for (const delivery of deliveries.filter(isLimited)) {
    const route = `${delivery.application_id ?? 0}:${delivery.channel}`
    routes.set(route, [...(routes.get(route) ?? []), delivery])
  }
  const overLimit = new Map<NewDelivery, NewDelivery>()
  // Sorted to avoid deadlocks between processes.
  for (const [, messages] of [...routes].sort(([a], [b]) => (a < b ? -1 : 1))) {
    const { surplus, period } = await reserveUsage(trx, dialect, messages.sort(bySeverity), { limit, now })
    for (const delivery of surplus) overLimit.set(delivery, { ...delivery, state: 'over_limit', run_at: period + HOUR })
  }
  return {
    deliveries: deliveries.map((delivery) => overLimit.get(delivery) ?? delivery),
    overLimitCount: overLimit.size,
  }
}

function isLimited({ state, notice }: NewDelivery): boolean {
  return state === 'pending' && LIMITED_EVENTS.includes(notice.event)
}

function bySeverity(a: NewDelivery, b: NewDelivery): number {
  return SEVERITIES.indexOf(a.notice.severity) - SEVERITIES.indexOf(b.notice.severity)
}

/** A quarter of the limit. Anonymous clients must not delay messages about server errors. */
function maxClientMessages(limit: number): number {
  return Math.max(1, Math.floor(limit / 4))
}

/**
 * Reserves usage for the messages of one channel, in order, and returns those over the limit. Counts toward the next
 * hour if the summary of the current hour was already written.
 */
async function reserveUsage(
  trx: Transaction<Schema>,
  dialect: Dialect,
  messages: readonly NewDelivery[],
  { limit, now }: { limit: number; now: number },
): Promise<{ surplus: NewDelivery[]; period: number }> {
  const fromClients = messages.filter(({ isFromClient }) => isFromClient)
  for (let period = startOfHour(now); ; period += HOUR) {
    const key = usageKey({ ...messages[0], period })
    // Client messages over their share must not count toward the limit of the channel.
    const clientSurplus = new Set<NewDelivery>()
    if (fromClients.length > 0) {
      const clientKey = { ...key, budget: `${key.budget}:clients` }
      const { amount } = await addUsage(trx, dialect, clientKey, fromClients.length)
      const available = maxClientMessages(limit) - (amount - fromClients.length)
      for (const message of fromClients.slice(Math.max(0, available))) clientSurplus.add(message)
    }
    const candidates = messages.filter((message) => !clientSurplus.has(message))
    const { amount, closed } = await addUsage(trx, dialect, key, candidates.length)
    if (closed) continue
    const available = limit - (amount - candidates.length)
    return { surplus: [...candidates.slice(Math.max(0, available)), ...clientSurplus], period }
  }
}

/** Closes an hour before its summary is written. Later deliveries count toward the next hour. */
export async function closeHour(
  trx: Transaction<Schema>,
  dialect: Dialect,
  hour: { application_id: number | null; channel: string; period: number },
  now: number,
): Promise<void> {
  await closePeriod(trx, dialect, usageKey(hour), now)
}

function usageKey({
  application_id,
  channel,
  period,
}: {
  application_id?: number | null
  channel?: string
  period: number
}): BudgetKey {
  return { application_id: application_id ?? 0, budget: `notification_max_per_hour:${channel}`, period }
}
