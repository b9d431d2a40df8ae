import { type ComparedPart, compareDiagnosticDumps, type DumpComparison } from '../../diagnostics/compare-dumps.js'
import type { DumpSummary } from '../../diagnostics/diagnostic-dump.js'
import type { NumberChange, TextChange } from '../../diagnostics/dump/differences.js'
import { perform } from '../../operation.js'
import { readable, shownNumber } from '../components/dump-facts.js'
import { definePage, type Rendered, type Visit } from '../define.js'
import { href, sameWith } from '../href.js'
import { words } from '../ui/badges.js'
import { Empty } from '../ui/empty.js'
import { PageHead } from '../ui/page-head.js'
import { exactTime, formatCount } from '../ui/time.js'
import { formatSeconds } from '../ui/units.js'

/** Two dumps beside each other: what differs, and what rose. */
export const dumpComparisonPage = definePage({
  path: '/errors/diagnostic_dumps/compare',
  text: 'What differs between two diagnostic dumps',
  needs: 'enable_diagnostic_dump',
  parameters: compareDiagnosticDumps.input,
  load: (context, parameters): Promise<DumpComparison> => perform(compareDiagnosticDumps, context, parameters),
  title: ({ a, b }) => `Dumps ${a.id} and ${b.id}`,
  json: (comparison) => comparison,
  view: (comparison, visit) => {
    const { a, b, parts, packages, environment, versions } = comparison
    const nothing = parts.length + packages.length + environment.length + versions.length === 0
    return (
      <>
        <PageHead title={`Dumps ${a.id} and ${b.id}`} context={between(comparison)}>
          <a class="button" href={href(visit, '/errors/diagnostic_dumps')}>
            All dumps
          </a>
          <a class="button" href={sameWith({ ...visit, path: `${visit.path}.json` }, {})}>
            JSON
          </a>
        </PageHead>
        <div class="compared-dumps">
          <Side letter="A" dump={a} visit={visit} />
          <Side letter="B" dump={b} visit={visit} />
        </div>
        {nothing ? (
          <Empty title="Nothing differs">
            Every number, package and variable of the two dumps is the same. Choose two that lie further apart.
          </Empty>
        ) : (
          <div class="stack">
            {parts.map((part) => (
              <Numbers part={part} />
            ))}
            <Texts title="Packages" changes={packages} />
            <Texts title="Versions" changes={versions} />
            <Texts title="Environment" changes={environment} />
          </div>
        )}
      </>
    )
  },
})

function between({ same_process, seconds_between, a, b }: DumpComparison): string {
  if (a.id === b.id) return 'The same dump twice.'
  const later = `${formatSeconds(seconds_between)} later`
  if (same_process) return `The same process, ${later}.`
  return `Two processes${a.hostname === b.hostname ? ` on ${a.hostname}` : ''}, ${later}. What they counted since they started is left out.`
}

function Side({ letter, dump, visit }: { letter: string; dump: DumpSummary; visit: Visit }): Rendered {
  return (
    <section class="card">
      <h2>
        <span class="badge">{letter}</span>{' '}
        <a href={href(visit, `/errors/diagnostic_dumps/${dump.id}`)}>{`Dump ${dump.id}`}</a>
      </h2>
      <p class="muted meta">
        {[
          exactTime(dump.created_at, visit.time_zone),
          dump.hostname,
          dump.pid === null ? null : `process ${dump.pid}`,
          dump.uptime_s === null ? null : `up ${formatSeconds(dump.uptime_s)}`,
        ]
          .filter((part) => part !== null)
          .join(' · ')}
      </p>
      {dump.note && <p class="compared-note">{dump.note}</p>}
    </section>
  )
}

const TITLES: Readonly<Record<string, string>> = {
  gc: 'Garbage collection',
  cpu: 'CPU',
  descriptors: 'File descriptors',
}

/** Where there is little room, what the numbers were stands under what they are of. */
const COLUMNS = [
  ['A', 'number wide-only'],
  ['B', 'number wide-only'],
  ['Difference', 'number'],
  ['Percent', 'number'],
] as const

function Numbers({ part: { name, cumulative, figures } }: { part: ComparedPart }): Rendered {
  const title = TITLES[name] ?? capital(words(name))
  return (
    <section class="card">
      <h2>{title}</h2>
      {cumulative && <p class="muted meta">These only grow while a process lives.</p>}
      <section class="scroll" tabindex={0} aria-label={`${title}, table`}>
        <table class="part-table compared numbers">
          <caption class="hidden">{title}</caption>
          <thead>
            <tr>
              <th scope="col">What</th>
              {COLUMNS.map(([column, kind]) => (
                <th scope="col" class={kind}>
                  {column}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {figures.map((figure) => (
              <NumberRow figure={figure} marked={figure.rise && !cumulative} />
            ))}
          </tbody>
        </table>
      </section>
    </section>
  )
}

function NumberRow({ figure: { name, a, b, difference, percent }, marked }: { figure: NumberChange; marked: boolean }) {
  const last = name.split('.').at(-1) ?? name
  const number = (value: number | null) => (value === null ? '–' : shownNumber(last, value))
  const signed = difference === null ? '–' : `${difference > 0 ? '+' : '−'}${shownNumber(last, Math.abs(difference))}`
  return (
    <tr class={marked ? 'risen' : undefined}>
      <th scope="row">
        {name.split('.').map(readable).join(' › ')}
        <small class="narrow-only muted">{`${number(a)} → ${number(b)}`}</small>
      </th>
      <td class="number wide-only">{number(a)}</td>
      <td class="number wide-only">{number(b)}</td>
      <td class="number">
        {signed}
        {marked && <Risen />}
      </td>
      <td class="number">{percent === null ? '–' : signedPercent(percent)}</td>
    </tr>
  )
}

/** Of many times as much nobody reads the last digit. */
function signedPercent(percent: number): string {
  const size = Math.abs(percent)
  return `${percent > 0 ? '+' : '−'}${formatCount(size < 1000 ? size : Math.round(size))} %`
}

function Risen(): Rendered {
  return (
    <span class="risen-mark" title="It rose by a fifth or more">
      <span aria-hidden="true"> ↑</span>
      <span class="hidden"> risen</span>
    </span>
  )
}

function Texts({ title, changes }: { title: string; changes: readonly TextChange[] }): Rendered {
  if (changes.length === 0) return null
  return (
    <section class="card">
      <h2>{title}</h2>
      <section class="scroll" tabindex={0} aria-label={`${title}, table`}>
        <table class="part-table compared">
          <caption class="hidden">{title}</caption>
          <thead>
            <tr>
              <th scope="col">Name</th>
              <th scope="col">A</th>
              <th scope="col">B</th>
            </tr>
          </thead>
          <tbody>
            {changes.map(({ name, a, b }) => (
              <tr>
                <th scope="row">
                  <code>{name}</code>
                </th>
                <td>{a ?? <span class="muted">not there</span>}</td>
                <td>{b ?? <span class="muted">not there</span>}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </section>
    </section>
  )
}

function capital(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1)
}
