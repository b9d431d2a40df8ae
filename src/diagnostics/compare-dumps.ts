import * as v from 'valibot'
import { id, optional } from '../model/input.js'
import { defineOperation } from '../operation.js'
import { type DiagnosticDump, type DumpSummary, findDiagnosticDump } from './diagnostic-dump.js'
import { changedTexts, comparedNumbers, type NumberChange, type TextChange } from './dump/differences.js'

export interface ComparedPart {
  name: string
  /** Numbers that only ever grow while a process lives: a rise is no sign of anything, and two processes have none. */
  cumulative: boolean
  figures: NumberChange[]
}

export interface DumpComparison {
  /** The older of the two, whichever was named first. */
  a: DumpSummary
  b: DumpSummary
  same_process: boolean
  seconds_between: number
  parts: ComparedPart[]
  packages: TextChange[]
  environment: TextChange[]
  versions: TextChange[]
}

/**
 * What differs between two dumps, from the older to the newer.
 *
 * @example
 * await Tracker.Queries.CompareDiagnosticDumps.call({ a: 1, b: 2 })
 */
export const compareDiagnosticDumps = defineOperation({
  input: v.object({ a: id(), b: id(), application_id: optional(id()) }),
  async run(context, { a, b, application_id }): Promise<DumpComparison> {
    const given = [
      await findDiagnosticDump.run(context, { dump_id: a, application_id }),
      await findDiagnosticDump.run(context, { dump_id: b, application_id }),
    ]
    const [older, newer] = given.sort(
      (one, other) => one.created_at.localeCompare(other.created_at) || one.id - other.id,
    )
    return compared(older as DiagnosticDump, newer as DiagnosticDump)
  },
})

function compared(a: DiagnosticDump, b: DiagnosticDump): DumpComparison {
  const same_process = isSame(a, b)
  return {
    a: listed(a),
    b: listed(b),
    same_process,
    seconds_between: Math.round((Date.parse(b.created_at) - Date.parse(a.created_at)) / 1000),
    parts: comparedParts(a, b, same_process),
    packages: changedTexts(packagesOf(a), packagesOf(b)),
    environment: changedTexts(record(a.environment), record(b.environment)),
    versions: changedTexts(record(a.versions), record(b.versions)),
  }
}

function comparedParts(a: DiagnosticDump, b: DiagnosticDump, same_process: boolean): ComparedPart[] {
  return PARTS.filter(({ cumulative }) => same_process || !cumulative)
    .map(({ name, cumulative = false, of }) => {
      const figures = comparedNumbers(of(a), of(b))
      return { name, cumulative, figures: figures.filter((figure) => same_process || !SINCE_START.test(figure.name)) }
    })
    .filter(({ figures }) => figures.length > 0)
}

/** Says something of how long a process has lived, and nothing of two of them. */
const SINCE_START = /_since_start$/

interface Part {
  name: string
  cumulative?: true
  of(dump: DiagnosticDump): unknown
}

const PARTS: readonly Part[] = [
  { name: 'memory', of: ({ memory }) => memory },
  { name: 'heap', of: ({ heap }) => without(heap, 'spaces') },
  { name: 'heap_spaces', of: ({ heap }) => spacesOf(heap) },
  { name: 'active_resources', of: ({ active_resources }) => active_resources },
  { name: 'descriptors', of: ({ descriptors }) => descriptors },
  { name: 'pools', of: ({ pools }) => pools },
  { name: 'jobs', of: ({ jobs }) => jobs },
  {
    name: 'event_loop',
    of: ({ event_loop }) => without(event_loop, 'turns', 'events', 'events_waited_for', 'sample_ms'),
  },
  { name: 'container', of: ({ container }) => container },
  { name: 'gc', cumulative: true, of: ({ gc }) => gc },
  { name: 'cpu', cumulative: true, of: ({ cpu }) => without(cpu, 'load_average') },
]

/** A pid is given again, so the time at which it started has to fit too. */
function isSame(a: DiagnosticDump, b: DiagnosticDump): boolean {
  if (a.pid === null || a.pid !== b.pid || a.hostname !== b.hostname) return false
  const startOf = (dump: DiagnosticDump) => Date.parse(dump.created_at) - (dump.uptime_s ?? 0) * 1000
  return Math.abs(startOf(a) - startOf(b)) < 2000
}

/** Without its parts. */
function listed(dump: DiagnosticDump): DumpSummary {
  const { id, application_id, application_name, note, created_at, captured_by, pid, hostname, uptime_s } = dump
  const { rss_bytes, heap_used_bytes, delay_p99_ms, utilisation, files } = dump
  return {
    ...{ id, application_id, application_name, note, created_at, captured_by, pid, hostname, uptime_s },
    ...{ rss_bytes, heap_used_bytes, delay_p99_ms, utilisation, files },
  }
}

function packagesOf({ modules }: DiagnosticDump): Record<string, unknown> {
  const { dependencies, packages } = record(modules)
  return { ...record(dependencies), ...record(packages) }
}

function spacesOf(heap: unknown): Record<string, unknown> {
  const { spaces } = record(heap)
  return Object.fromEntries(
    (Array.isArray(spaces) ? spaces : []).map(record).map(({ name, used_bytes }) => [`${name}_bytes`, used_bytes]),
  )
}

function without(values: unknown, ...names: string[]): Record<string, unknown> {
  return Object.fromEntries(Object.entries(record(values)).filter(([name]) => !names.includes(name)))
}

function record(values: unknown): Record<string, unknown> {
  return typeof values === 'object' && values !== null ? (values as Record<string, unknown>) : {}
}
