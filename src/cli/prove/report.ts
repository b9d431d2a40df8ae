import { type Figures, PHASES, type Phase } from './figures.js'
import type { Measured } from './measure.js'
import { LIMITS_TEXT, unaccounted } from './verdict.js'

export interface Report {
  passed: boolean
  command: string
  machine: { faultboard: string; node: string; platform: string; cores: number; load: number; database: string }
  scenarios: Measured[]
}

/** One table for a pull request. */
export function markdownReport({ passed, command, machine, scenarios }: Report): string {
  const { faultboard, node, platform, cores, load, database } = machine
  return [
    `### Host impact of Faultboard: ${passed ? 'passed ✅' : 'failed ❌'}`,
    '',
    `Faultboard ${faultboard}, Node.js ${node}, ${platform}, ${cores} cores, load ${load.toFixed(2)}, ${database}; \`${command}\``,
    '',
    '| scenario | host | p50 ms | p99 ms | longest stall ms | memory MB | descriptors | errors | result |',
    '|---|---|---|---|---|---|---|---|---|',
    ...scenarios.flatMap(scenarioRows),
    '',
    `Response times of a route that succeeds, and stalls of the event loop: before / during / after. Memory and descriptors: before / after. Without Faultboard: range of two runs. Limits: ${LIMITS_TEXT}.`,
    '',
    `Hanging database: a lock on the SQLite file, or a proxy that discards all packets. Full disk: every write of the host to a file fails (RLIMIT_FSIZE); a database server hangs at the same time. The dashboard was opened once before.`,
  ].join('\n')
}

function scenarioRows({ title, skipped, bare, faultboard, counts, checks }: Measured): string[] {
  if (!faultboard || !counts) return [row([title, '', '', '', '', '', '', '', `skipped: ${skipped}`])]
  const failures = checks.filter(({ passed }) => !passed)
  const result = failures.map(({ name, value, limit }) => `${name} ${number(value)} > ${number(limit)}`).join('<br>')
  const dropped = Object.entries(counts.dropped).map(([reason, lost]) => `${integer(lost)} ${reason}`)
  const difference = unaccounted(counts)
  const errors = [
    `${integer(counts.thrown)} thrown`,
    `${integer(counts.recorded)} recorded`,
    ...dropped,
    ...(difference === 0 ? [] : [`${integer(difference)} unaccounted`]),
  ]
  return [
    row([title, 'without', ...figureCells(bare), '', '']),
    row([
      '',
      'Faultboard',
      ...figureCells([faultboard]),
      errors.join(', '),
      failures.length === 0 ? '✅' : `❌ ${result}`,
    ]),
  ]
}

function figureCells(runs: readonly Figures[]): string[] {
  const latency = (name: keyof Phase) => PHASES.map((phase) => range(runs.map((run) => run[phase][name]))).join(' / ')
  const ends = ['before', 'after'] as const
  const descriptors = ends.map((end) =>
    range(
      runs.map(({ resources }) => resources[end].descriptors ?? Number.NaN),
      integer,
    ),
  )
  return [
    ...(['p50', 'p99', 'stall'] as const).map(latency),
    ends
      .map((end) =>
        range(
          runs.map(({ resources }) => resources[end].memory_mb),
          integer,
        ),
      )
      .join(' / '),
    descriptors.includes('') ? '' : descriptors.join(' / '),
  ]
}

function range(values: readonly number[], format = number): string {
  if (values.some(Number.isNaN)) return ''
  const [least, most] = [format(Math.min(...values)), format(Math.max(...values))]
  return least === most ? least : `${least}–${most}`
}

function number(value: number): string {
  return value.toFixed(value < 10 ? 1 : 0)
}

function integer(value: number): string {
  return Math.round(value).toLocaleString('en-US')
}

function row(cells: readonly string[]): string {
  return `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`
}
