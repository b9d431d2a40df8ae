import type { DeprecationSummary, DeprecationWarning } from '../../../diagnostics/deprecations/query.js'
import type { DumpSummary, DumpsPage } from '../../../diagnostics/dumps/diagnostic-dump.js'
import { type DumpFile, FILE_KINDS } from '../../../diagnostics/dumps/dump-files.js'
import type { NPlusOneQueries, RepeatedStatement, StatementCaller } from '../../../diagnostics/n-plus-one/query.js'
import {
  type HealthPoint,
  type ListedProcess,
  type ProcessHealthPage,
  RANGE_NAMES,
} from '../../../diagnostics/processes/process-health.js'
import type {
  GuardedAddress,
  GuardedPath,
  GuardedRule,
  RequestGuardSummary,
} from '../../../diagnostics/request-guard/query.js'
import type {
  SwallowedExceptions,
  SwallowingHandler,
  SwallowingLocation,
} from '../../../diagnostics/swallowed/query.js'
import { day, flag, list, named, nullable, number, object, type Schema, text, time, whole, word } from '../schema.js'
import { plainPagination } from './shared.js'

export const swallowedAnswer = object<SwallowedExceptions>({
  days: whole,
  threshold: number,
  runtime: object<SwallowedExceptions['runtime']>({ supported: flag, reason: nullable(text) }),
  is_counting: flag,
  watched_files: whole,
  totals: object<SwallowedExceptions['totals']>({
    places: whole,
    raise_count: whole,
    rescue_count: whole,
    reported_count: whole,
    vanished_count: whole,
  }),
  locations: list(
    object<SwallowingLocation>({
      error_type: text,
      raise_location: text,
      raise_count: whole,
      rescue_count: whole,
      reported_count: whole,
      vanished_count: whole,
      rescue_ratio: number,
      last_seen_at: time,
      handlers: list(object<SwallowingHandler>({ rescue_location: text, handler_kind: text, rescue_count: whole })),
    }),
  ),
  total_count: whole,
})

const DUMP = {
  id: whole,
  application_id: whole,
  application_name: text,
  note: nullable(text),
  created_at: time,
  captured_by: nullable(text),
  pid: nullable(whole),
  hostname: nullable(text),
  uptime_s: nullable(number),
  rss_bytes: nullable(whole),
  heap_used_bytes: nullable(whole),
  delay_p99_ms: nullable(number),
  utilisation: nullable(number),
  files: list(object<DumpFile>({ kind: word(FILE_KINDS), name: text, size_bytes: whole, hostname: text })),
}

const dump = named('DumpSummary', object<DumpSummary>(DUMP))

export const dumpsAnswer = object<DumpsPage>({ dumps: list(dump), pagination: plainPagination })

/** What the process, its libraries and the machine tell differs from one Node.js to the next. */
export const dumpAnswer: Schema<{ dump: unknown }> = {
  json: {
    type: 'object',
    properties: { dump: { ...object<DumpSummary>(DUMP).json, additionalProperties: true } },
    required: ['dump'],
  },
}

const listedProcess = object<ListedProcess>({
  id: whole,
  application_id: whole,
  application_name: text,
  hostname: text,
  pid: whole,
  node_version: text,
  app_version: nullable(text),
  started_at: time,
  last_seen_at: time,
  alive: flag,
  rss_bytes: nullable(whole),
  heap_used_bytes: nullable(whole),
  heap_limit_bytes: nullable(whole),
  delay_p99_ms: nullable(number),
  cpu: nullable(number),
})

export const processHealthAnswer = object<ProcessHealthPage>({
  range: word(RANGE_NAMES),
  step_minutes: whole,
  processes: list(listedProcess),
  process: nullable(listedProcess),
  points: list(
    object<HealthPoint>({
      at: time,
      rss_bytes: nullable(number),
      heap_used_bytes: nullable(number),
      heap_limit_bytes: nullable(number),
      delay_p50_ms: nullable(number),
      delay_p99_ms: nullable(number),
      delay_max_ms: nullable(number),
      utilisation: nullable(number),
      cpu: nullable(number),
      gc_ms: nullable(number),
      handles: nullable(number),
      errors: nullable(number),
    }),
  ),
})

const KINDS = { throttle: whole, blocklist: whole, track: whole }

export const requestGuardAnswer = object<RequestGuardSummary & { counted_at: string }>({
  days: whole,
  total_count: whole,
  by_kind: object<RequestGuardSummary['by_kind']>(KINDS),
  by_day: list(object<RequestGuardSummary['by_day'][number]>({ day, ...KINDS })),
  by_rule: list(object<GuardedRule>({ rule: text, kind: text, count: whole, last_seen_at: time })),
  by_address: list(object<GuardedAddress>({ ip_address: text, count: whole, last_seen_at: time })),
  by_path: list(object<GuardedPath>({ path: text, count: whole, last_seen_at: time })),
  counted_at: time,
})

export const deprecationsAnswer = object<DeprecationSummary & { counted_at: string }>({
  days: whole,
  total_count: whole,
  by_day: list(object<DeprecationSummary['by_day'][number]>({ day, count: whole })),
  deprecations: list(
    object<DeprecationWarning>({
      code: text,
      message: text,
      count: whole,
      first_seen_at: time,
      last_seen_at: time,
      app_versions: list(text),
      places: list(object<DeprecationWarning['places'][number]>({ place: text, count: whole })),
    }),
  ),
  counted_at: time,
})

export const nPlusOneAnswer = object<NPlusOneQueries & { counted_at: string }>({
  days: whole,
  threshold: whole,
  total_count: whole,
  by_day: list(object<NPlusOneQueries['by_day'][number]>({ day, count: whole })),
  statements: list(
    object<RepeatedStatement>({
      statement: text,
      request_count: whole,
      statement_count: whole,
      worst_count: whole,
      duration_ms: number,
      last_seen_at: time,
      callers: list(object<StatementCaller>({ route: text, place: text, request_count: whole, worst_count: whole })),
    }),
  ),
  counted_at: time,
})
