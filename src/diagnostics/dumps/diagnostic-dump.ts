import * as v from 'valibot'
import type { Context } from '../../context.js'
import { TrackerError } from '../../model/errors.js'
import { clampedInteger, id, withDefault } from '../../model/input/input.js'
import { type Scope, scopeInput } from '../../model/input/scope.js'
import * as r from '../../model/result.js'
import { defineOperation } from '../../operation.js'
import { sql } from '../../store/kysely.js'
import { SECTIONS, type Sections } from './dump-content.js'
import { DumpFile } from './dump-files.js'

const MAX_PER_PAGE = 100
const MAX_SUMMARY_LENGTH = 4000
/** Start of the content, which contains the summary line. Avoids reading the sections. */
export const SUMMARY_PREFIX = sql<string>`substr(content, 1, ${sql.lit(MAX_SUMMARY_LENGTH)})`.as('summary_prefix')

/** Fields of a dump in the list. */
export const DumpSummary = r.named(
  'DumpSummary',
  r.object({
    id: r.integer,
    application_id: r.integer,
    application_name: r.text,
    environment: r.text,
    note: r.nullable(r.text),
    created_at: r.time,
    captured_by: r.nullable(r.text),
    pid: r.nullable(r.integer),
    hostname: r.nullable(r.text),
    uptime_s: r.nullable(r.number),
    rss_bytes: r.nullable(r.integer),
    heap_used_bytes: r.nullable(r.integer),
    delay_p99_ms: r.nullable(r.number),
    utilization: r.nullable(r.number),
    /** CPU profile and heap snapshot to download. */
    files: r.list(DumpFile),
  }),
)
export type DumpSummary = v.InferOutput<typeof DumpSummary>

export interface DiagnosticDump extends DumpSummary, Sections {}

export const DumpsPage = r.object({
  dumps: r.list(DumpSummary),
  pagination: r.PlainPagination,
})
export type DumpsPage = v.InferOutput<typeof DumpsPage>

/** Lists stored dumps, newest first. */
export const diagnosticDumps = defineOperation({
  input: v.object({
    ...scopeInput,
    page: withDefault(clampedInteger({ min: 1, max: 1_000_000_000 }), 1),
    per_page: withDefault(clampedInteger({ min: 1, max: MAX_PER_PAGE }), 25),
  }),
  async run(context, { application_id, environment, page: requestedPage, per_page }): Promise<DumpsPage> {
    const scope = { application_id, environment }
    const { total } = await selectDumps(context, scope)
      .select(({ fn }) => fn.countAll<number>().as('total'))
      .executeTakeFirstOrThrow()
    const total_pages = Math.max(1, Math.ceil(total / per_page))
    const page = Math.min(requestedPage, total_pages)
    const rows = await selectDumps(context, scope)
      .select(LISTED_COLUMNS)
      .select(SUMMARY_PREFIX)
      .orderBy('faultboard_diagnostic_dumps.id', 'desc')
      .limit(per_page)
      .offset((page - 1) * per_page)
      .execute()
    return {
      dumps: rows.map(({ summary_prefix, ...row }) => ({ ...withIsoTime(row), ...parseSummary(summary_prefix) })),
      pagination: { page, per_page, total_count: total, total_pages },
    }
  },
})

/** Returns one dump with all sections. */
export const findDiagnosticDump = defineOperation({
  input: v.object({ dump_id: id(), ...scopeInput }),
  async run(context, { dump_id, application_id, environment }): Promise<DiagnosticDump> {
    const row = await selectDumps(context, { application_id, environment })
      .select([...LISTED_COLUMNS, 'content'])
      .where('faultboard_diagnostic_dumps.id', '=', dump_id)
      .executeTakeFirst()
    if (!row) throw new TrackerError('not_found', `Diagnostic dump ${dump_id} not found.`)
    const { content, ...rest } = row
    // Sections of dumps from older versions can have the name of a column.
    return { ...parseSummary(content), ...parseSections(content), ...withIsoTime(rest) }
  },
})

export type Summary = Omit<
  DumpSummary,
  'id' | 'application_id' | 'application_name' | 'environment' | 'note' | 'created_at'
>

export function summarize({ process, memory, event_loop }: Sections, captured_by: string | null): Summary {
  const { pid = null, hostname = null, uptime_s = null } = (process ?? {}) as Partial<Summary>
  const { rss_bytes = null, heap_used_bytes = null } = (memory ?? {}) as Partial<Summary>
  const { delay_p99_ms = null, utilization = null } = (event_loop ?? {}) as Partial<Summary>
  return { captured_by, pid, hostname, uptime_s, rss_bytes, heap_used_bytes, delay_p99_ms, utilization, files: [] }
}

/** Formats the content as two lines of JSON, so that the list can read the summary alone. */
export function formatContent(summary: Summary, sections: Sections): string {
  return `${JSON.stringify(summary)}\n${JSON.stringify(sections)}`
}

/** Adds defaults for fields that dumps from older versions lack. */
export function parseSummary(content: string): Summary {
  return { ...summarize(NO_SECTIONS, null), ...JSON.parse(content.slice(0, content.indexOf('\n'))) }
}

function parseSections(content: string): Sections {
  return { ...NO_SECTIONS, ...JSON.parse(content.slice(content.indexOf('\n') + 1)) }
}

const NO_SECTIONS = Object.fromEntries(SECTIONS.map((name) => [name, null])) as Sections

const LISTED_COLUMNS = [
  'faultboard_diagnostic_dumps.id',
  'application_id',
  'faultboard_applications.name as application_name',
  'environment',
  'note',
  'faultboard_diagnostic_dumps.created_at',
] as const

function withIsoTime<Row extends { created_at: number }>({ created_at, ...row }: Row) {
  return { ...row, created_at: new Date(created_at).toISOString() }
}

function selectDumps({ database: { read } }: Context, { application_id, environment }: Scope) {
  return read
    .selectFrom('faultboard_diagnostic_dumps')
    .innerJoin('faultboard_applications', 'faultboard_applications.id', 'application_id')
    .$if(application_id !== undefined, (dumps) => dumps.where('application_id', '=', application_id ?? 0))
    .$if(environment !== undefined, (dumps) => dumps.where('environment', '=', environment ?? ''))
}
