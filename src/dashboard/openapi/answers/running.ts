import type { DatabaseHealth } from '../../../health/database.js'
import type { Dropped, Health, ProcessHealth, Reason, RejectedByBudget } from '../../../health/report.js'
import type { EngineHealth, FailedDelivery, FailedJob, WorkHealth } from '../../../health/work.js'
import { BUDGET_NAMES } from '../../../model/budgets.js'
import type { ChannelState } from '../../../notifications/delivery/channel-states.js'
import { DELIVERY_CHANNELS, DELIVERY_STATES, type Delivery } from '../../../notifications/delivery/deliveries.js'
import type { Setting } from '../../pages/settings/setting-row.js'
import { anyObject, anything, flag, list, map, nullable, number, object, text, time, whole, word } from '../schema.js'
import { plainPagination, severity } from './shared.js'

const dropped = list(object<Dropped>({ reason: text, count: whole, text }))

export const healthAnswer = object<Health>({
  state: word(['ok', 'degraded', 'failing']),
  reasons: list(object<Reason>({ state: word(['degraded', 'failing']), message: text })),
  recorder: object<Health['recorder']>({
    buffered: whole,
    queued: whole,
    unavailable_since: nullable(time),
    last_flush_at: nullable(time),
  }),
  dropped,
  spool: object<Health['spool']>({ folder: text, files: whole, failed: whole, bytes: whole, max_bytes: whole }),
  database: object<DatabaseHealth>({
    address: text,
    kind: word(['sqlite', 'postgres', 'mysql']),
    reachable: flag,
    latency_ms: nullable(number),
    problem: nullable(text),
    migrations: nullable(
      object<NonNullable<DatabaseHealth['migrations']>>({ applied: list(text), pending: list(text) }),
    ),
    replaced_count: whole,
    damage: nullable(text),
    search_index: nullable(flag),
  }),
  rejections: nullable(
    list(
      object<RejectedByBudget>({
        option: word(BUDGET_NAMES),
        limit: anything,
        count: whole,
        first_rejected_at: time,
        last_rejected_at: time,
        text,
      }),
    ),
  ),
  work: nullable(
    object<WorkHealth>({
      engine: object<EngineHealth>({
        name: word(['embedded', 'bullmq', 'pg-boss']),
        problem: nullable(text),
        works_here: flag,
      }),
      jobs: map(whole),
      dead_letters: list(object<FailedJob>({ name: text, attempts: whole, last_error: text, failed_at: time })),
      deliveries: object<WorkHealth['deliveries']>({
        by_state: map(whole),
        last_failures: list(
          object<FailedDelivery>({
            channel: text,
            event: text,
            attempts: whole,
            last_response: nullable(text),
            created_at: time,
          }),
        ),
      }),
      cleanup: object<WorkHealth['cleanup']>({ last_run_at: nullable(time), retention_days: nullable(whole) }),
    }),
  ),
  process: object<ProcessHealth>({
    faultboard_version: nullable(text),
    node_version: text,
    pid: whole,
    uptime_seconds: number,
    memory_bytes: whole,
  }),
})

/** Names, groups and values are text; secrets are masked. */
type ToldSetting = Omit<Setting, 'name' | 'group'> & { name: string; group: string }

export const settingsAnswer = object<{ settings: ToldSetting[]; health: { state: unknown; dropped: Dropped[] } }>({
  settings: list(
    object<ToldSetting>({
      name: text,
      group: text,
      value: text,
      is_default: flag,
      environment_variable: nullable(text),
      text,
    }),
  ),
  health: object<{ state: unknown; dropped: Dropped[] }>({ state: anyObject, dropped }),
})

interface NotificationsAnswer {
  channels: ChannelState[]
  quiet_hours: {
    hours: string
    time_zone: string
    bypass_severity: string | null
    held_until: string | null
  } | null
  counts: Record<(typeof DELIVERY_STATES)[number], number>
  deliveries: Delivery[]
  pagination: { page: number; per_page: number; total_count: number; total_pages: number }
}

export const notificationsAnswer = object<NotificationsAnswer>({
  channels: list(
    object<ChannelState>({
      name: word(DELIVERY_CHANNELS),
      state: word(['on', 'incomplete', 'off']),
      missing: list(text),
      target: nullable(text),
      min_severity: severity,
      held_in_quiet_hours: flag,
    }),
  ),
  quiet_hours: nullable(
    object<NonNullable<NotificationsAnswer['quiet_hours']>>({
      hours: text,
      time_zone: text,
      bypass_severity: nullable(text),
      held_until: nullable(time),
    }),
  ),
  counts: object<NotificationsAnswer['counts']>({
    pending: whole,
    sending: whole,
    sent: whole,
    failed: whole,
    held: whole,
    over_limit: whole,
    combined: whole,
  }),
  deliveries: list(
    object<Delivery>({
      id: whole,
      channel: text,
      event: anything,
      state: word(DELIVERY_STATES),
      severity,
      subject: text,
      error_id: nullable(whole),
      error_exists: flag,
      application_id: nullable(whole),
      application_name: nullable(text),
      attempts: whole,
      last_response: nullable(text),
      idempotency_key: text,
      created_at: time,
      run_at: nullable(time),
      finished_at: nullable(time),
    }),
  ),
  pagination: plainPagination,
})
