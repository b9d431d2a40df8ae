import type { Rendered, Visit } from '../../../dashboard/define.js'
import { formatCount, TimeOfDay } from '../../../dashboard/ui/time.js'
import { formatBytes, formatMilliseconds } from '../../../dashboard/ui/units.js'
import { FILTERED } from '../../../model/redaction/redaction.js'
import { HIDDEN } from '../node-flags.js'
import { FactList, formatValue, Section, SectionTable, toHeading, toRecord, type Values } from './dump-facts.js'

export function Heap({ values }: { values: unknown }): Rendered {
  const { spaces, ...facts } = toRecord(values)
  const rows = (Array.isArray(spaces) ? spaces : []).map(toRecord).filter(({ size_bytes }) => size_bytes !== 0)
  return (
    <Section title="Heap" values={values}>
      <FactList values={facts} />
      <SectionTable
        caption="Heap spaces"
        name="Space"
        rows={rows.map((row) => [toHeading(String(row.name)), row])}
        columns={[
          { title: 'Used', cell: ({ used_bytes }) => formatBytes(Number(used_bytes)) },
          { title: 'Size', cell: ({ size_bytes }) => formatBytes(Number(size_bytes)) },
        ]}
      />
    </Section>
  )
}

export function Gc({ values }: { values: unknown }): Rendered {
  const { kinds, ...facts } = toRecord(values)
  const rows = Object.entries(toRecord(kinds)).map(([name, kind]) => [toHeading(name), toRecord(kind)] as const)
  return (
    <Section title="Garbage collection" values={values} missing="Not monitored yet. The tracker had just started.">
      <FactList values={facts} />
      {rows.length > 0 && (
        <SectionTable
          caption="Collections by kind"
          name="Kind"
          rows={rows}
          columns={[
            { title: 'Count', cell: ({ count }) => formatCount(Number(count)) },
            { title: 'Total', cell: ({ total_ms }) => formatMilliseconds(Number(total_ms)) },
            { title: 'Longest', cell: ({ longest_ms }) => formatMilliseconds(Number(longest_ms)) },
          ]}
        />
      )}
    </Section>
  )
}

const POOL_COLUMNS = ['in_use', 'idle', 'waiting', 'max'] as const

export function Pools({ values }: { values: unknown }): Rendered {
  const rows = Object.entries(toRecord(values)).map(([name, pool]) => [name, toRecord(pool)] as const)
  return (
    <Section title="Pools" values={values}>
      {rows.length === 0 ? (
        <p class="muted">
          No pools registered. Add one with <code>Tracker.registerPool('orders', pool)</code>.
        </p>
      ) : (
        <SectionTable
          caption="Connection pools"
          name="Pool"
          rows={rows}
          columns={POOL_COLUMNS.map((name) => ({
            title: toHeading(name),
            cell: (pool) => formatValue(name, pool[name] ?? null),
          }))}
        />
      )}
    </Section>
  )
}

export function Descriptors({ values }: { values: unknown }): Rendered {
  const { kinds, ...facts } = toRecord(values)
  return (
    <Section title="File descriptors" values={values} missing="Not available on this system.">
      <FactList values={{ ...facts, ...toRecord(kinds) }} />
    </Section>
  )
}

export function Container({ values }: { values: unknown }): Rendered {
  const { pressure, ...facts } = toRecord(values)
  const pressures = Object.entries(toRecord(pressure)).map(([name, value]) => {
    const { avg10_percent, avg60_percent } = toRecord(value)
    return [
      `${toHeading(name)} pressure`,
      value === null ? null : `${avg10_percent}% over 10 s, ${avg60_percent}% over 60 s`,
    ]
  })
  return (
    <Section title="Container" values={values}>
      <FactList values={facts} />
      <FactList values={Object.fromEntries(pressures)} labels={keepName} />
    </Section>
  )
}

/** Versions that are always visible. Versions of bundled libraries are collapsed. */
const MAIN_VERSIONS = [
  'app_version',
  'git_sha',
  'environment',
  'platform',
  'architecture',
  'node',
  'v8',
  'uv',
  'openssl',
]

export function Versions({ versions, modules }: { versions: unknown; modules: unknown }): Rendered {
  const entries = Object.entries(toRecord(versions))
  const { packages, dependencies, ...counts } = toRecord(modules)
  const installed = { ...toRecord(dependencies), ...toRecord(packages) }
  return (
    <Section title="Versions" values={versions}>
      <FactList
        values={{ ...Object.fromEntries(entries.filter(([name]) => MAIN_VERSIONS.includes(name))), ...counts }}
      />
      <Collapsed
        count={(n) => `${n} more`}
        values={Object.fromEntries(entries.filter(([name]) => !MAIN_VERSIONS.includes(name)))}
      />
      <Collapsed count={(n) => (n === 1 ? '1 package' : `${n} packages`)} values={installed} />
    </Section>
  )
}

function Collapsed({ count, values }: { count: (entries: number) => string; values: Values }) {
  const entries = Object.keys(values).length
  if (entries === 0) return null
  return (
    <details class="hidden-names">
      <summary>{count(entries)}</summary>
      <FactList values={values} labels={keepName} />
    </details>
  )
}

export function Report({ values }: { values: unknown }): Rendered {
  if (values === null) return null
  const { handles, user_limits, resource_usage, thread_resource_usage, ...facts } = toRecord(values)
  const rows = Object.entries(toRecord(handles)).map(([name, kind]) => [name, toRecord(kind)] as const)
  return (
    <section class="card report">
      <h2>Diagnostic report</h2>
      <FactList values={facts} />
      <SectionTable
        caption="Event loop handles"
        name="Handle"
        rows={rows}
        columns={['total', 'active', 'referenced'].map((name) => ({
          title: toHeading(name),
          cell: (row) => formatValue(name, row[name]),
        }))}
      />
      <h3>Process</h3>
      <FactList values={toRecord(resource_usage)} />
      <h3>Event loop thread</h3>
      <FactList values={toRecord(thread_resource_usage)} />
      <Limits values={user_limits} />
    </section>
  )
}

function Limits({ values }: { values: unknown }): Rendered {
  const rows = Object.entries(toRecord(values)).map(
    ([name, limit]) => [toHeading(name), { ...toRecord(limit), name }] as const,
  )
  if (rows.length === 0) return null
  return (
    <SectionTable
      caption="Limits"
      name="Limit"
      rows={rows}
      columns={['soft', 'hard'].map((which) => ({
        title: toHeading(which),
        cell: (limit) => (limit[which] === null ? 'no limit' : formatValue(String(limit.name), limit[which])),
      }))}
    />
  )
}

export function Breadcrumbs({ crumbs, visit }: { crumbs: unknown; visit: Visit }): Rendered {
  if (!Array.isArray(crumbs) || crumbs.length === 0) return null
  return (
    <section class="card">
      <h2>Breadcrumbs</h2>
      <ol class="dump-crumbs">
        {crumbs.map(toRecord).map(({ occurred_at, category, message }) => (
          <li>
            <TimeOfDay iso={String(occurred_at)} visit={visit} />
            <span class="badge">{String(category)}</span>
            <span>{String(message)}</span>
          </li>
        ))}
      </ol>
    </section>
  )
}

const keepName = (name: string) => name

function isHidden(value: unknown): boolean {
  return value === HIDDEN || value === FILTERED
}

export function EnvironmentVariables({ values }: { values: unknown }): Rendered {
  const entries = Object.entries(toRecord(values))
  const names = entries.filter(([, value]) => isHidden(value)).map(([name]) => name)
  return (
    <Section title="Environment variables" values={values}>
      <FactList values={Object.fromEntries(entries.filter(([, value]) => !isHidden(value)))} labels={keepName} />
      {names.length > 0 && (
        <details class="hidden-names">
          <summary>{`${names.length} more variables, values not stored`}</summary>
          <p>
            {names.map((name) => (
              <>
                <code>{name}</code>{' '}
              </>
            ))}
          </p>
        </details>
      )}
    </Section>
  )
}
