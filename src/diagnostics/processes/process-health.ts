import * as v from 'valibot'
import type { Context } from '../../context.js'
import { zoomInput } from '../../model/chart-span.js'
import { TrackerError } from '../../model/errors.js'
import { choice, id, optional } from '../../model/input/input.js'
import { type Scope, scopeInput } from '../../model/input/scope.js'
import * as r from '../../model/result.js'
import { DAY, HOUR, MINUTE } from '../../model/time.js'
import { defineOperation } from '../../operation.js'
import { sql } from '../../store/kysely.js'
import { timedRanges } from '../../store/sql/timed-ranges.js'

export const RETENTION_DAYS = 7
const MAX_PROCESSES = 50
/** A process without a row for this time counts as stopped. */
const STOPPED_AFTER_MS = 3 * MINUTE

/** Duration of each range and of one point in it. A range has 60 to 96 points. */
const RANGES = {
  '1h': { span: HOUR, step: MINUTE },
  '24h': { span: DAY, step: 15 * MINUTE },
  '7d': { span: 7 * DAY, step: 2 * HOUR },
} as const

/** Length of a point in a zoomed chart, by the longest span for it. */
const ZOOM_STEPS = [
  { span: 3 * HOUR, step: MINUTE },
  { span: 36 * HOUR, step: 15 * MINUTE },
  { span: Number.POSITIVE_INFINITY, step: 2 * HOUR },
] as const

export const RANGE_NAMES = ['1h', '24h', '7d'] as const
export type RangeName = (typeof RANGE_NAMES)[number]

export const ListedProcess = r.object({
  id: r.integer,
  application_id: r.integer,
  application_name: r.text,
  environment: r.text,
  hostname: r.text,
  pid: r.integer,
  node_version: r.text,
  app_version: r.nullable(r.text),
  started_at: r.time,
  last_seen_at: r.time,
  alive: r.boolean,
  /** Values of the last minute. */
  rss_bytes: r.nullable(r.integer),
  heap_used_bytes: r.nullable(r.integer),
  heap_limit_bytes: r.nullable(r.integer),
  delay_p99_ms: r.nullable(r.number),
  cpu: r.nullable(r.number),
})
export type ListedProcess = v.InferOutput<typeof ListedProcess>

/** Metrics of one step. All values are null if the process wrote no row in it. */
export const HealthPoint = r.object({
  at: r.time,
  rss_bytes: r.nullable(r.number),
  heap_used_bytes: r.nullable(r.number),
  heap_limit_bytes: r.nullable(r.number),
  delay_p50_ms: r.nullable(r.number),
  delay_p99_ms: r.nullable(r.number),
  delay_max_ms: r.nullable(r.number),
  utilization: r.nullable(r.number),
  cpu: r.nullable(r.number),
  /** Milliseconds of garbage collection per minute. */
  gc_ms: r.nullable(r.number),
  handles: r.nullable(r.number),
  errors: r.nullable(r.number),
})
export type HealthPoint = v.InferOutput<typeof HealthPoint>

export const ProcessHealthPage = r.object({
  /** Null for a zoomed chart. */
  range: r.nullable(r.oneOf(RANGE_NAMES)),
  step_minutes: r.integer,
  processes: r.list(ListedProcess),
  process: r.nullable(ListedProcess),
  points: r.list(HealthPoint),
})
export type ProcessHealthPage = v.InferOutput<typeof ProcessHealthPage>

/**
 * Lists processes and returns the metrics of one process over time, by default the first process. The default range is
 * a day, or an hour for a process that started within the last hour.
 */
export const processHealth = defineOperation({
  input: v.object({
    ...scopeInput,
    process_id: optional(id()),
    range: optional(choice(RANGE_NAMES)),
    ...zoomInput,
  }),
  async run(
    context,
    { application_id, environment, process_id, range: requestedRange, from, to },
  ): Promise<ProcessHealthPage> {
    const scope = { application_id, environment }
    const processes = await listProcesses(context, scope)
    const process = await selectProcess(context, processes, process_id, scope)
    const isZoomed = from !== undefined && to !== undefined
    const range = requestedRange ?? (process && isNew(context, process) ? '1h' : '24h')
    const span = isZoomed ? zoomedSpan({ from, to }, context.now()) : rangeSpan(range, context.now())
    const points = process ? await readPoints(context, process.id, span) : []
    return { range: isZoomed ? null : range, step_minutes: span.step / MINUTE, processes, process, points }
  },
})

interface PointsSpan {
  from: number
  to: number
  step: number
}

/** The last point includes the current minute. */
function rangeSpan(range: RangeName, now: number): PointsSpan {
  const { span, step } = RANGES[range]
  const to = now - (now % step) + step
  return { from: to - span, to, step }
}

function zoomedSpan({ from, to }: { from: number; to: number }, now: number): PointsSpan {
  if (to <= from || from >= now) throw new TrackerError('invalid_input', 'from must be before to, and in the past.')
  const start = Math.max(from, now - RETENTION_DAYS * DAY)
  const end = Math.max(start + MINUTE, Math.min(to, now))
  const step = ZOOM_STEPS.find(({ span }) => end - start <= span)?.step ?? 2 * HOUR
  return { from: start - (start % step), to: Math.ceil(end / step) * step, step }
}

function isNew({ now }: Context, { started_at }: ListedProcess): boolean {
  return now() - Date.parse(started_at) < RANGES['1h'].span
}

async function selectProcess(
  context: Context,
  processes: readonly ListedProcess[],
  process_id: number | undefined,
  scope: Scope,
): Promise<ListedProcess | null> {
  if (process_id === undefined) return processes[0] ?? null
  const listed = processes.find(({ id }) => id === process_id)
  if (listed) return listed
  const [found] = await listProcesses(context, scope, process_id)
  if (!found) throw new TrackerError('not_found', `Process ${process_id} not found.`)
  return found
}

async function listProcesses(
  { database: { read }, now }: Context,
  { application_id, environment }: Scope,
  process_id?: number,
): Promise<ListedProcess[]> {
  let query = read
    .selectFrom('faultboard_processes as p')
    .innerJoin('faultboard_applications as a', 'a.id', 'p.application_id')
    .leftJoin('faultboard_process_minutes as m', (join) =>
      join.onRef('m.process_id', '=', 'p.id').onRef('m.minute', '=', 'p.last_minute'),
    )
    .select(['p.id', 'p.application_id', 'a.name as application_name', 'p.hostname', 'p.pid', 'p.node_version'])
    .select(['p.environment', 'p.app_version', 'p.started_at', 'p.last_minute'])
    .select(['m.rss_bytes', 'm.heap_used_bytes', 'm.heap_limit_bytes', 'm.delay_p99_ms', 'm.cpu'])
    .orderBy('p.last_minute', 'desc')
    .orderBy('p.started_at', 'desc')
    .orderBy('p.id', 'desc')
    .limit(MAX_PROCESSES)
  if (application_id !== undefined) query = query.where('p.application_id', '=', application_id)
  if (environment !== undefined) query = query.where('p.environment', '=', environment)
  if (process_id !== undefined) query = query.where('p.id', '=', process_id)
  const rows = await query.execute()
  const processes = rows.map(({ started_at, last_minute, ...row }) => ({
    ...row,
    started_at: new Date(started_at).toISOString(),
    // The minute of the first row can start before the process.
    last_seen_at: new Date(Math.max(started_at, last_minute)).toISOString(),
    alive: now() - last_minute < STOPPED_AFTER_MS,
  }))
  return processes.sort((a, b) => Number(b.alive) - Number(a.alive) || (a.alive && b.alive ? byName(a, b) : 0))
}

/** Sorts running processes in a stable order. Sorted by last minute, their order would change every minute. */
function byName(a: ListedProcess, b: ListedProcess): number {
  return a.hostname.localeCompare(b.hostname, 'en', { numeric: true }) || a.pid - b.pid
}

async function readPoints(
  { database }: Context,
  process_id: number,
  { from: first, to: end, step }: PointsSpan,
): Promise<HealthPoint[]> {
  const count = (end - first) / step
  const pointsByTime = new Map<number, Partial<HealthPoint>>()
  for await (const steps of timedRanges(database, count, { minSize: Math.min(count, DAY / step) })) {
    const range = { from: first + steps.from * step, to: first + steps.to * step, step }
    for (const { bucket, ...metrics } of await aggregateMinutes(database, process_id, range)) {
      pointsByTime.set(bucket, roundValues(metrics))
    }
  }
  return Array.from({ length: count }, (_, i) => {
    const time = first + i * step
    return { at: new Date(time).toISOString(), ...NO_METRICS, ...pointsByTime.get(time) }
  })
}

/** Aggregates minutes into steps: maximum of sizes and delays, mean of shares, sum of errors. */
async function aggregateMinutes({ read }: Context['database'], process_id: number, { from, to, step }: PointsSpan) {
  const minute = sql.ref<number>('minute')
  const bucket = sql<number>`${minute} - ${minute} % ${sql.lit(step)}`
  return read
    .selectFrom('faultboard_process_minutes')
    .select(({ fn }) => [
      bucket.as('bucket'),
      ...MAXIMUM_COLUMNS.map((name) => fn.max(name).as(name)),
      ...MEAN_COLUMNS.map((name) => fn.avg<number>(name).as(name)),
      fn.sum<number>('errors').as('errors'),
    ])
    .where('process_id', '=', process_id)
    .where('minute', '>=', from)
    .where('minute', '<', to)
    .groupBy(bucket)
    .execute()
}

const MAXIMUM_COLUMNS = [
  'rss_bytes',
  'heap_used_bytes',
  'heap_limit_bytes',
  'handles',
  'delay_p99_ms',
  'delay_max_ms',
] as const
const MEAN_COLUMNS = ['delay_p50_ms', 'utilization', 'cpu', 'gc_ms'] as const

const NO_METRICS: Omit<HealthPoint, 'at'> = {
  rss_bytes: null,
  heap_used_bytes: null,
  heap_limit_bytes: null,
  delay_p50_ms: null,
  delay_p99_ms: null,
  delay_max_ms: null,
  utilization: null,
  cpu: null,
  gc_ms: null,
  handles: null,
  errors: null,
}

/** Rounds to three digits and converts means that some drivers return as strings. */
function roundValues(metrics: object): Partial<HealthPoint> {
  const entries = Object.entries(metrics)
  return Object.fromEntries(
    entries.map(([name, value]) => [name, value === null ? null : Math.round(Number(value) * 1000) / 1000]),
  )
}
