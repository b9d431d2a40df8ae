import type { Options } from '../../config/options.js'
import type { Reject } from '../../model/budgets.js'
import { cleanText } from '../../model/text.js'
import { MINUTE } from '../../model/time.js'
import type { Database } from '../../store/database.js'
import type { Transaction } from '../../store/kysely.js'
import type { Outbox, RecordedGroup } from '../../store/recording/outbox.js'
import type { Schema } from '../../store/schema.js'
import { activeChannels } from '../channels/channels.js'
import type { ErrorNotice } from '../content/notice.js'
import { beginCooldowns, runningCooldowns } from '../rules/cooldowns.js'
import { limitPerHour } from '../rules/hourly-limit.js'
import { resolutions } from '../rules/resolutions.js'
import { type Occasion, occasionsOf } from '../rules/rules.js'
import { addressingOf, type NewDelivery, writeDeliveries } from './write-deliveries.js'

export interface OutboxParts {
  config: Options
  database: Database
  now(): number
  reject: Reject
}

/** A transaction takes less, or is tried again, which tells of news again. */
const NEWS_MS = 5000
const MESSAGE_LENGTH = 2000
/** An incident that was closed is opened again at once, however soon its error is back: nobody looks at a closed one. */
const REOPENS_ALWAYS = 'incident'

/** Writes down which messages the configured channels are to send. */
export function createOutbox({ config, database: { dialect }, now, reject }: OutboxParts): Outbox {
  const isOn = activeChannels(config).length > 0
  const addressed = addressingOf(config)
  let written_at = Number.NEGATIVE_INFINITY
  const write = async (trx: Transaction<Schema>, deliveries: readonly NewDelivery[], at: number) => {
    if (deliveries.length === 0) return
    const limited = await limitPerHour(trx, dialect, deliveries, { limit: config.notification_max_per_hour, now: at })
    if (limited.over_limit > 0) reject('notification_max_per_hour', limited.over_limit)
    await writeDeliveries(trx, dialect, limited.deliveries, at)
    written_at = performance.now()
  }
  return {
    async recorded(trx, groups) {
      if (!isOn) return
      const at = now()
      const rules = { now: at, milestones: config.notification_threshold_alerts }
      const found = groups.flatMap((group) => {
        const occasions = occasionsOf(group, rules)
        return occasions.length === 0 ? [] : [{ ...group, occasions }]
      })
      // A storm of ordinary repeats asks the database nothing.
      if (found.length === 0) return
      const returned = found.filter(({ outcome }) => outcome.reopened).map(({ outcome }) => cooldownOf(outcome.id))
      const cooling = await runningCooldowns(trx, returned, at)
      const told = found.flatMap(({ group, outcome, occasions }) => {
        const [first] = occasions
        if (!first) return []
        const isCooling = first.event === 'reopened' && cooling.has(cooldownOf(outcome.id))
        const occasion = isCooling ? (occasions[1] ?? first) : first
        return [{ group, outcome, occasion, only: occasion.event === 'reopened' && isCooling ? REOPENS_ALWAYS : null }]
      })
      const names = await applicationNames(
        trx,
        told.map(({ outcome }) => outcome.application_id),
      )
      const messages = told.map(({ occasion, only, ...recorded }) => {
        const { id: error_id, application_id } = recorded.outcome
        const notice = noticeOf(recorded, occasion, names.get(application_id) ?? '', at)
        const is_client = recorded.group.newest.source !== undefined
        const all = addressed({ key: keyOf(error_id, occasion, at), notice, error_id, application_id, is_client }, at)
        return { error_id, only, deliveries: only ? all.filter(({ channel }) => channel === only) : all }
      })
      await write(
        trx,
        messages.flatMap(({ deliveries }) => deliveries),
        at,
      )
      const minutes = config.notification_cooldown_minutes
      const begun = messages.filter(({ only, deliveries }) => !only && deliveries.length > 0)
      const errors = new Set(begun.map(({ error_id }) => cooldownOf(error_id)))
      if (minutes > 0) await beginCooldowns(trx, dialect, [...errors], at + minutes * MINUTE)
    },

    async settled(trx, errors) {
      const at = now()
      await write(trx, await resolutions(trx, errors, { config, names: applicationNames, now: at }), at)
    },

    hasRecentWrites: () => performance.now() - written_at < NEWS_MS,
  }
}

function cooldownOf(error_id: number): string {
  return `error:${error_id}`
}

function keyOf(error_id: number, occasion: Occasion, at: number): string {
  switch (occasion.event) {
    case 'new':
      return `new:${error_id}`
    case 'reopened':
      return `reopened:${error_id}:${at}`
    case 'milestone':
      return `milestone:${error_id}:${occasion.milestone}`
  }
}

function noticeOf(
  { group: { newest }, outcome }: RecordedGroup,
  occasion: Occasion,
  application_name: string,
  at: number,
): ErrorNotice {
  const { environment } = newest.context
  return {
    event: occasion.event,
    ...(occasion.event === 'milestone' ? { milestone: occasion.milestone } : {}),
    application_name,
    environment: typeof environment === 'string' ? environment : null,
    at,
    severity: outcome.severity,
    error: {
      id: outcome.id,
      application_id: outcome.application_id,
      error_type: newest.error_type,
      message: cleanText(newest.message, MESSAGE_LENGTH),
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

/** Asked for each time: a message is rare, and a spool folder may hold the errors of other applications. */
async function applicationNames(trx: Transaction<Schema>, ids: readonly number[]): Promise<Map<number, string>> {
  if (ids.length === 0) return new Map()
  const rows = await trx
    .selectFrom('faultboard_applications')
    .select(['id', 'name'])
    .where('id', 'in', [...new Set(ids)])
    .execute()
  return new Map(rows.map(({ id, name }) => [id, name]))
}
