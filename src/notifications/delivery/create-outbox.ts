import type { Options } from '../../config/options.js'
import type { CountRejections } from '../../model/budgets.js'
import { cleanText } from '../../model/text.js'
import { MINUTE } from '../../model/time.js'
import type { Database } from '../../store/database.js'
import type { Transaction } from '../../store/kysely.js'
import type { Outbox, RecordedGroup } from '../../store/recording/outbox.js'
import type { Schema } from '../../store/schema.js'
import { activeChannels, assignmentChannels, INCIDENT_CHANNELS } from '../channels/channels.js'
import type { ErrorNotice } from '../content/notice.js'
import { writeAssignmentEmail } from '../rules/assignments.js'
import { activeCooldowns, startCooldowns } from '../rules/cooldowns.js'
import { applyHourlyLimit } from '../rules/hourly-limit.js'
import { createResolveDeliveries } from '../rules/resolve-deliveries.js'
import { type NotificationTrigger, notificationTriggers } from '../rules/triggers.js'
import { createDeliveryPlanner, type NewDelivery, writeDeliveries } from './plan-deliveries.js'

export interface OutboxOptions {
  config: Options
  database: Database
  now(): number
  reject: CountRejections
}

/** Exceeds the duration of a transaction. A retried transaction sets the time again. */
const RECENT_WRITE_MS = 5000
const MAX_MESSAGE_LENGTH = 2000

/** Creates the outbox, which writes deliveries in the transaction that records the errors. */
export function createOutbox({ config, database: { dialect }, now, reject }: OutboxOptions): Outbox {
  const hasChannels = activeChannels(config).length > 0
  const planDeliveries = createDeliveryPlanner(config)
  let lastWriteAt = Number.NEGATIVE_INFINITY
  const noteWrite = () => {
    lastWriteAt = performance.now()
  }
  const writeLimited = async (trx: Transaction<Schema>, deliveries: readonly NewDelivery[], at: number) => {
    if (deliveries.length === 0) return
    const limited = await applyHourlyLimit(trx, dialect, deliveries, {
      limit: config.notification_max_per_hour,
      now: at,
    })
    if (limited.overLimitCount > 0) reject('notification_max_per_hour', limited.overLimitCount)
    await writeDeliveries(trx, dialect, limited.deliveries, at)
    noteWrite()
  }
  return {
    async recorded(trx, groups) {
      if (!hasChannels) return
      const at = now()
      const rules = { now: at, milestones: config.notification_threshold_alerts }
      const notable = groups.flatMap((group) => {
        const triggers = notificationTriggers(group, rules)
        return triggers.length === 0 ? [] : [{ ...group, triggers }]
      })
      // Ordinary repeats need no query.
      if (notable.length === 0) return
      const reopenedNames = notable
        .filter(({ outcome }) => outcome.reopened)
        .map(({ outcome }) => cooldownName(outcome.id))
      const activeNames = await activeCooldowns(trx, reopenedNames, at)
      const announced = notable.flatMap(({ group, outcome, triggers }) => {
        const [first] = triggers
        if (!first) return []
        const isInCooldown = first.event === 'reopened' && activeNames.has(cooldownName(outcome.id))
        const trigger = isInCooldown ? (triggers[1] ?? first) : first
        return [
          {
            group,
            outcome,
            trigger,
            // Reopens incidents despite the cooldown, because responders do not see a closed incident.
            onlyIncidents: trigger.event === 'reopened' && isInCooldown,
          },
        ]
      })
      const applicationNameById = await loadApplicationNames(
        trx,
        announced.map(({ outcome }) => outcome.application_id),
      )
      const planned = announced.map(({ trigger, onlyIncidents, ...recorded }) => {
        const { id: error_id, application_id } = recorded.outcome
        const notice = errorNotice(recorded, trigger, applicationNameById.get(application_id) ?? '', at)
        const isFromClient = recorded.group.newest.source !== undefined
        const all = planDeliveries(
          { key: notificationKey(error_id, trigger, at), notice, error_id, application_id, isFromClient },
          at,
        )
        return {
          error_id,
          onlyIncidents,
          deliveries: onlyIncidents ? all.filter(({ channel }) => INCIDENT_CHANNELS.includes(channel)) : all,
        }
      })
      await writeLimited(
        trx,
        planned.flatMap(({ deliveries }) => deliveries),
        at,
      )
      const minutes = config.notification_cooldown_minutes
      const newlyAnnounced = planned.filter(({ onlyIncidents, deliveries }) => !onlyIncidents && deliveries.length > 0)
      const cooldownNames = new Set(newlyAnnounced.map(({ error_id }) => cooldownName(error_id)))
      if (minutes > 0) await startCooldowns(trx, dialect, [...cooldownNames], at + minutes * MINUTE)
    },

    async settled(trx, errors) {
      const at = now()
      await writeLimited(
        trx,
        await createResolveDeliveries(trx, errors, { loadNames: loadApplicationNames, now: at }),
        at,
      )
    },

    async assigned(trx, errors, assignment) {
      if (assignmentChannels(config).length === 0) return
      const context = { dialect, config, loadNames: loadApplicationNames, now: now() }
      await writeAssignmentEmail(trx, context, errors, assignment)
    },

    noteWrite,

    hasRecentWrites: () => performance.now() - lastWriteAt < RECENT_WRITE_MS,
  }
}

function cooldownName(error_id: number): string {
  return `error:${error_id}`
}

function notificationKey(error_id: number, trigger: NotificationTrigger, at: number): string {
  switch (trigger.event) {
    case 'new':
      return `new:${error_id}`
    case 'reopened':
      return `reopened:${error_id}:${at}`
    case 'milestone':
      return `milestone:${error_id}:${trigger.milestone}`
  }
}

function errorNotice(
  { group: { newest }, outcome }: RecordedGroup,
  trigger: NotificationTrigger,
  application_name: string,
  at: number,
): ErrorNotice {
  return {
    event: trigger.event,
    ...(trigger.event === 'milestone' ? { milestone: trigger.milestone } : {}),
    application_name,
    environment: outcome.environment,
    at,
    severity: outcome.severity,
    error: {
      id: outcome.id,
      application_id: outcome.application_id,
      error_type: newest.error_type,
      message: cleanText(newest.message, MAX_MESSAGE_LENGTH),
      place: newest.place,
      platform: newest.platform,
      app_version: newest.app_version,
      occurrence_count: outcome.occurrence_count,
      first_seen_at: outcome.first_seen_at,
      occurred_at: newest.occurred_at,
      hash_signature: outcome.hash_signature,
      regressed_in_version: outcome.regressed_in_version,
    },
  }
}

/** Not cached: notifications are rare, and a spool folder may contain errors of several applications. */
async function loadApplicationNames(trx: Transaction<Schema>, ids: readonly number[]): Promise<Map<number, string>> {
  if (ids.length === 0) return new Map()
  const rows = await trx
    .selectFrom('faultboard_applications')
    .select(['id', 'name'])
    .where('id', 'in', [...new Set(ids)])
    .execute()
  return new Map(rows.map(({ id, name }) => [id, name]))
}
