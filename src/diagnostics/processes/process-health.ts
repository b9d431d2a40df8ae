import * as v from 'valibot'
import type { Context } from '../../context.js'
import { TrackerError } from '../../model/errors.js'
import { choice, id, optional } from '../../model/input.js'
import { DAY, HOUR, MINUTE } from '../../model/time.js'
import { defineOperation } from '../../operation.js'
import { sql } from '../../store/kysely.js'
import { timedRanges } from '../../store/timed-ranges.js'

export const KEPT_DAYS = 7
/** The newest; those that are gone follow those that live. */
const MAX_PROCESSES = 50
/** A process that is alive has written within so long. */
const SILENT_MS = 3 * MINUTE

/** How far back is looked, and how many minutes one point sums up: some ninety points in all. */
const RANGES = {
  '1h': { span: HOUR, step: MINUTE },
  '24h': { span: DAY, step: 15 * MINUTE },
  '7d': { span: 7 * DAY, step: 2 * HOUR },
} as const

export const RANGE_NAMES = ['1h', '24h', '7d'] as const
export type RangeName = (typeof RANGE_NAMES)[number]

export interface ListedProcess {
  id: number
  application_id: number
  application_name: string
  hostname: string
  pid: number
  node_version: string
  app_version: string | null
  started_at: string
  last_seen_at: string
  alive: boolean
  /** As they were when it was last seen. */
  rss_bytes: number | null
  heap_used_bytes: number | null
  heap_limit_bytes: number | null
  delay_p99_ms: number | null
  cpu: number | null
}

/** Nothing but the time is known of a span in which the process wrote nothing. */
export interface HealthPoint {
  at: string
  rss_bytes: number | null
  heap_used_bytes: number | null
  heap_limit_bytes: number | null
  delay_p50_ms: number | null
  delay_p99_ms: number | null
  delay_max_ms: number | null
  utilisation: number | null
  cpu: number | null
  /** Milliseconds of pauses in a minute. */
  gc_ms: number | null
  handles: number | null
  errors: number | null
}

export interface ProcessHealthPage {
  range: RangeName
  step_minutes: number
  processes: ListedProcess[]
  process: ListedProcess | null
  points: HealthPoint[]
}

/**
 * How the processes are doing, and one of them over time: the one that was seen last unless another is asked for. Without
 * a range it is a day, or the last hour of a process that is no older: it would be a speck on a day.
 */
export const processHealth = defineOperation({
  input: v.object({
    application_id: optional(id()),
    process_id: optional(id()),
    range: optional(choice(RANGE_NAMES)),
  }),
  async run(context, { application_id, process_id, range: wanted }): Promise<ProcessHealthPage> {
    const processes = await listProcesses(context, application_id)
    const process = await chosen(context, processes, process_id, application_id)
    const range = wanted ?? (process && isYoung(context, process) ? '1h' : '24h')
    const { step } = RANGES[range]
    const points = process ? await pointsOf(context, process.id, range) : []
    return { range, step_minutes: step / MINUTE, processes, process, points }
  },
})

function isYoung({ now }: Context, { started_at }: ListedProcess): boolean {
  return now() - Date.parse(started_at) < RANGES['1h'].span
}

async function chosen(
  context: Context,
  processes: readonly ListedProcess[],
  process_id: number | undefined,
  application_id: number | undefined,
): Promise<ListedProcess | null> {
  if (process_id === undefined) return processes[0] ?? null
  const listed = processes.find(({ id }) => id === process_id)
  if (listed) return listed
  const [found] = await listProcesses(context, application_id, process_id)
  if (!found) throw new TrackerError('not_found', `There is no process with the id ${process_id}.`)
  return found
}

async function listProcesses(
  { database: { read }, now }: Context,
  application_id: number | undefined,
  process_id?: number,
): Promise<ListedProcess[]> {
  let query = read
    .selectFrom('faultboard_processes as p')
    .innerJoin('faultboard_applications as a', 'a.id', 'p.application_id')
    .leftJoin('faultboard_process_minutes as m', (join) =>
      join.onRef('m.process_id', '=', 'p.id').onRef('m.minute', '=', 'p.last_minute'),
    )
    .select(['p.id', 'p.application_id', 'a.name as application_name', 'p.hostname', 'p.pid', 'p.node_version'])
    .select(['p.app_version', 'p.started_at', 'p.last_minute'])
    .select(['m.rss_bytes', 'm.heap_used_bytes', 'm.heap_limit_bytes', 'm.delay_p99_ms', 'm.cpu'])
    .orderBy('p.last_minute', 'desc')
    .orderBy('p.started_at', 'desc')
    .orderBy('p.id', 'desc')
    .limit(MAX_PROCESSES)
  if (application_id !== undefined) query = query.where('p.application_id', '=', application_id)
  if (process_id !== undefined) query = query.where('p.id', '=', process_id)
  const rows = await query.execute()
  const processes = rows.map(({ started_at, last_minute, ...row }) => ({
    ...row,
    started_at: new Date(started_at).toISOString(),
    // Its first row may be of the minute in which it started.
    last_seen_at: new Date(Math.max(started_at, last_minute)).toISOString(),
    alive: now() - last_minute < SILENT_MS,
  }))
  return processes.sort((a, b) => Number(b.alive) - Number(a.alive) || (a.alive && b.alive ? byName(a, b) : 0))
}

/** Those that live change places every minute otherwise. */
function byName(a: ListedProcess, b: ListedProcess): number {
  return a.hostname.localeCompare(b.hostname, 'en', { numeric: true }) || a.pid - b.pid
}

async function pointsOf({ database, now }: Context, process_id: number, range: RangeName): Promise<HealthPoint[]> {
  const { span, step } = RANGES[range]
  const end = now() - (now() % step) + step
  const first = end - span
  const known = new Map<number, Partial<HealthPoint>>()
  for await (const steps of timedRanges(database, span / step, { smallest: Math.min(span, DAY) / step })) {
    const range = { from: first + steps.from * step, to: first + steps.to * step, step }
    for (const { bucket, ...figures } of await summedUp(database, process_id, range)) {
      known.set(bucket, rounded(figures))
    }
  }
  return Array.from({ length: span / step }, (_, i) => {
    const at = first + i * step
    return { at: new Date(at).toISOString(), ...NOTHING, ...known.get(at) }
  })
}

/** The worst of each span where something can be too high; the mean of what is a share. */
async function summedUp(
  { read }: Context['database'],
  process_id: number,
  { from, to, step }: { from: number; to: number; step: number },
) {
  const minute = sql.ref<number>('minute')
  const bucket = sql<number>`${minute} - ${minute} % ${sql.lit(step)}`
  return read
    .selectFrom('faultboard_process_minutes')
    .select(({ fn }) => [
      bucket.as('bucket'),
      ...WORST.map((name) => fn.max(name).as(name)),
      ...MEANS.map((name) => fn.avg<number>(name).as(name)),
      fn.sum<number>('errors').as('errors'),
    ])
    .where('process_id', '=', process_id)
    .where('minute', '>=', from)
    .where('minute', '<', to)
    .groupBy(bucket)
    .execute()
}

const WORST = ['rss_bytes', 'heap_used_bytes', 'heap_limit_bytes', 'handles', 'delay_p99_ms', 'delay_max_ms'] as const
const MEANS = ['delay_p50_ms', 'utilisation', 'cpu', 'gc_ms'] as const

const NOTHING: Omit<HealthPoint, 'at'> = {
  rss_bytes: null,
  heap_used_bytes: null,
  heap_limit_bytes: null,
  delay_p50_ms: null,
  delay_p99_ms: null,
  delay_max_ms: null,
  utilisation: null,
  cpu: null,
  gc_ms: null,
  handles: null,
  errors: null,
}

/** A mean has more digits than anybody reads, and some drivers give it as text. */
function rounded(figures: object): Partial<HealthPoint> {
  const entries = Object.entries(figures)
  return Object.fromEntries(
    entries.map(([name, value]) => [name, value === null ? null : Math.round(Number(value) * 1000) / 1000]),
  )
}
