import * as v from 'valibot'
import type { Context } from '../../context.js'
import { TrackerError } from '../../model/errors.js'
import { clampedInteger, id, optional, withDefault } from '../../model/input.js'
import { defineOperation } from '../../operation.js'
import { sql } from '../../store/kysely.js'
import { SECTIONS, type Sections } from './dump-content.js'
import type { DumpFile } from './dump-files.js'

const MAX_PER_PAGE = 100
const SUMMARY_LIMIT = 4000
/** The line that the list needs, without the long one behind it. */
export const HEAD = sql<string>`substr(content, 1, ${sql.lit(SUMMARY_LIMIT)})`.as('head')

/** What the list tells of a dump. */
export interface DumpSummary {
  id: number
  application_id: number
  application_name: string
  note: string | null
  created_at: string
  captured_by: string | null
  pid: number | null
  hostname: string | null
  uptime_s: number | null
  rss_bytes: number | null
  heap_used_bytes: number | null
  delay_p99_ms: number | null
  utilisation: number | null
  /** What can be downloaded with it: CPU profile, heap snapshot. */
  files: DumpFile[]
}

export interface DiagnosticDump extends DumpSummary, Sections {}

export interface DumpsPage {
  dumps: DumpSummary[]
  pagination: { page: number; per_page: number; total_count: number; total_pages: number }
}

/** The dumps that are kept, newest first, a page at a time. */
export const diagnosticDumps = defineOperation({
  input: v.object({
    application_id: optional(id()),
    page: withDefault(clampedInteger({ min: 1, max: 1_000_000_000 }), 1),
    per_page: withDefault(clampedInteger({ min: 1, max: MAX_PER_PAGE }), 25),
  }),
  async run(context, { application_id, page: wanted, per_page }): Promise<DumpsPage> {
    const { total } = await dumpsOf(context, application_id)
      .select(({ fn }) => fn.countAll<number>().as('total'))
      .executeTakeFirstOrThrow()
    const total_pages = Math.max(1, Math.ceil(total / per_page))
    const page = Math.min(wanted, total_pages)
    const rows = await dumpsOf(context, application_id)
      .select(SHOWN_COLUMNS)
      .select(HEAD)
      .orderBy('faultboard_diagnostic_dumps.id', 'desc')
      .limit(per_page)
      .offset((page - 1) * per_page)
      .execute()
    return {
      dumps: rows.map(({ head, ...row }) => ({ ...shown(row), ...readSummary(head) })),
      pagination: { page, per_page, total_count: total, total_pages },
    }
  },
})

/** One dump with all its parts. */
export const findDiagnosticDump = defineOperation({
  input: v.object({ dump_id: id(), application_id: optional(id()) }),
  async run(context, { dump_id, application_id }): Promise<DiagnosticDump> {
    const row = await dumpsOf(context, application_id)
      .select([...SHOWN_COLUMNS, 'content'])
      .where('faultboard_diagnostic_dumps.id', '=', dump_id)
      .executeTakeFirst()
    if (!row) throw new TrackerError('not_found', `There is no diagnostic dump with the id ${dump_id}.`)
    const { content, ...rest } = row
    return { ...shown(rest), ...readSummary(content), ...readSections(content) }
  },
})

export type Summary = Omit<DumpSummary, 'id' | 'application_id' | 'application_name' | 'note' | 'created_at'>

export function summaryOf({ process, memory, event_loop }: Sections, captured_by: string | null): Summary {
  const { pid = null, hostname = null, uptime_s = null } = (process ?? {}) as Partial<Summary>
  const { rss_bytes = null, heap_used_bytes = null } = (memory ?? {}) as Partial<Summary>
  const { delay_p99_ms = null, utilisation = null } = (event_loop ?? {}) as Partial<Summary>
  return { captured_by, pid, hostname, uptime_s, rss_bytes, heap_used_bytes, delay_p99_ms, utilisation, files: [] }
}

/** Two lines of JSON: a list reads the first and leaves the long one where it is. */
export function contentOf(summary: Summary, sections: Sections): string {
  return `${JSON.stringify(summary)}\n${JSON.stringify(sections)}`
}

/** A dump of an older version may lack what this one tells. */
export function readSummary(content: string): Summary {
  return { ...summaryOf(NO_SECTIONS, null), ...JSON.parse(content.slice(0, content.indexOf('\n'))) }
}

function readSections(content: string): Sections {
  return { ...NO_SECTIONS, ...JSON.parse(content.slice(content.indexOf('\n') + 1)) }
}

const NO_SECTIONS = Object.fromEntries(SECTIONS.map((name) => [name, null])) as Sections

const SHOWN_COLUMNS = [
  'faultboard_diagnostic_dumps.id',
  'application_id',
  'faultboard_applications.name as application_name',
  'note',
  'faultboard_diagnostic_dumps.created_at',
] as const

function shown<Row extends { created_at: number }>({ created_at, ...row }: Row) {
  return { ...row, created_at: new Date(created_at).toISOString() }
}

function dumpsOf({ database: { read } }: Context, application_id: number | undefined) {
  const dumps = read
    .selectFrom('faultboard_diagnostic_dumps')
    .innerJoin('faultboard_applications', 'faultboard_applications.id', 'application_id')
  return application_id === undefined ? dumps : dumps.where('application_id', '=', application_id)
}
