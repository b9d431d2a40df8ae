import type { Rendered, Visit } from '../../../dashboard/define.js'
import { words } from '../../../dashboard/ui/badges.js'
import { formatCount, timeOfDay } from '../../../dashboard/ui/time.js'
import { formatBytes, formatMilliseconds } from '../../../dashboard/ui/units.js'
import { FILTERED } from '../../../model/redaction/redaction.js'
import { HIDDEN } from '../node-flags.js'
import { FactList, Part, PartTable, readable, record, shown, type Values } from './dump-facts.js'

export function Heap({ values }: { values: unknown }): Rendered {
  const { spaces, ...facts } = record(values)
  const rows = (Array.isArray(spaces) ? spaces : []).map(record).filter(({ size_bytes }) => size_bytes !== 0)
  return (
    <Part title="Heap" values={values}>
      <FactList values={facts} />
      <PartTable
        caption="Heap spaces"
        name="Space"
        rows={rows.map((row) => [words(String(row.name)), row])}
        columns={[
          { title: 'Used', of: ({ used_bytes }) => formatBytes(Number(used_bytes)) },
          { title: 'Size', of: ({ size_bytes }) => formatBytes(Number(size_bytes)) },
        ]}
      />
    </Part>
  )
}

export function Gc({ values }: { values: unknown }): Rendered {
  const { kinds, ...facts } = record(values)
  const rows = Object.entries(record(kinds)).map(([name, kind]) => [words(name), record(kind)] as const)
  return (
    <Part title="Garbage collection" values={values} missing="It was not observed: the tracker had just started.">
      <FactList values={facts} />
      {rows.length > 0 && (
        <PartTable
          caption="Collections by kind"
          name="Kind"
          rows={rows}
          columns={[
            { title: 'Count', of: ({ count }) => formatCount(Number(count)) },
            { title: 'In all', of: ({ total_ms }) => formatMilliseconds(Number(total_ms)) },
            { title: 'Longest', of: ({ longest_ms }) => formatMilliseconds(Number(longest_ms)) },
          ]}
        />
      )}
    </Part>
  )
}

const POOL_COLUMNS = ['in_use', 'idle', 'waiting', 'max'] as const

export function Pools({ values }: { values: unknown }): Rendered {
  const rows = Object.entries(record(values)).map(([name, pool]) => [name, record(pool)] as const)
  return (
    <Part title="Pools" values={values}>
      {rows.length === 0 ? (
        <p class="muted">
          None is known. <code>Tracker.registerPool('orders', pool)</code> shows yours here.
        </p>
      ) : (
        <PartTable
          caption="Pools of connections"
          name="Pool"
          rows={rows}
          columns={POOL_COLUMNS.map((name) => ({ title: words(name), of: (pool) => shown(name, pool[name] ?? null) }))}
        />
      )}
    </Part>
  )
}

export function Descriptors({ values }: { values: unknown }): Rendered {
  const { kinds, ...facts } = record(values)
  return (
    <Part title="File descriptors" values={values} missing="This system does not tell them.">
      <FactList values={{ ...facts, ...record(kinds) }} />
    </Part>
  )
}

export function Container({ values }: { values: unknown }): Rendered {
  const { pressure, ...facts } = record(values)
  const pressed = Object.entries(record(pressure)).map(([name, value]) => {
    const { avg10_percent, avg60_percent } = record(value)
    return [
      `${readable(name)} pressure`,
      value === null ? null : `${avg10_percent} % of 10 s, ${avg60_percent} % of 60 s`,
    ]
  })
  return (
    <Part title="Container" values={values}>
      <FactList values={facts} />
      <FactList values={Object.fromEntries(pressed)} labels={asIs} />
    </Part>
  )
}

/** What the runtime is built of is long, and seldom asked for. */
const FOREMOST = ['app_version', 'git_sha', 'environment', 'platform', 'architecture', 'node', 'v8', 'uv', 'openssl']

export function Versions({ versions, modules }: { versions: unknown; modules: unknown }): Rendered {
  const entries = Object.entries(record(versions))
  const { packages, dependencies, ...counts } = record(modules)
  const installed = { ...record(dependencies), ...record(packages) }
  return (
    <Part title="Versions" values={versions}>
      <FactList values={{ ...Object.fromEntries(entries.filter(([name]) => FOREMOST.includes(name))), ...counts }} />
      <More
        count={(n) => `${n} more`}
        values={Object.fromEntries(entries.filter(([name]) => !FOREMOST.includes(name)))}
      />
      <More count={(n) => (n === 1 ? '1 package' : `${n} packages`)} values={installed} labels={asIs} />
    </Part>
  )
}

function More({
  count,
  values,
  labels,
}: {
  count: (entries: number) => string
  values: Values
  labels?: (name: string) => string
}) {
  const entries = Object.keys(values).length
  if (entries === 0) return null
  return (
    <details class="hidden-names">
      <summary>{count(entries)}</summary>
      <FactList values={values} {...(labels ? { labels } : {})} />
    </details>
  )
}

export function Report({ values }: { values: unknown }): Rendered {
  if (values === null) return null
  const { handles, user_limits, resource_usage, thread_resource_usage, ...facts } = record(values)
  const rows = Object.entries(record(handles)).map(([name, kind]) => [name, record(kind)] as const)
  return (
    <section class="card report">
      <h2>Diagnostic report</h2>
      <FactList values={facts} />
      <PartTable
        caption="Handles of the event loop"
        name="Handle"
        rows={rows}
        columns={['total', 'active', 'referenced'].map((name) => ({
          title: words(name),
          of: (row) => shown(name, row[name]),
        }))}
      />
      <h3>The process so far</h3>
      <FactList values={record(resource_usage)} />
      <h3>The thread of the event loop</h3>
      <FactList values={record(thread_resource_usage)} />
      <Limits values={user_limits} />
    </section>
  )
}

function Limits({ values }: { values: unknown }): Rendered {
  const rows = Object.entries(record(values)).map(
    ([name, limit]) => [readable(name), { ...record(limit), name }] as const,
  )
  if (rows.length === 0) return null
  return (
    <PartTable
      caption="Limits"
      name="Limit"
      rows={rows}
      columns={['soft', 'hard'].map((which) => ({
        title: words(which),
        of: (limit) => (limit[which] === null ? 'no limit' : shown(String(limit.name), limit[which])),
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
        {crumbs.map(record).map(({ occurred_at, category, message }) => (
          <li>
            <time datetime={String(occurred_at)}>{timeOfDay(String(occurred_at), visit.time_zone)}</time>
            <span class="badge">{String(category)}</span>
            <span>{String(message)}</span>
          </li>
        ))}
      </ol>
    </section>
  )
}

const asIs = (name: string) => name

function isHidden(value: unknown): boolean {
  return value === HIDDEN || value === FILTERED
}

export function Environment({ values }: { values: unknown }): Rendered {
  const entries = Object.entries(record(values))
  const names = entries.filter(([, value]) => isHidden(value)).map(([name]) => name)
  return (
    <Part title="Environment" values={values}>
      <FactList values={Object.fromEntries(entries.filter(([, value]) => !isHidden(value)))} labels={asIs} />
      {names.length > 0 && (
        <details class="hidden-names">
          <summary>{`${names.length} more are set; their values are not kept`}</summary>
          <p>
            {names.map((name) => (
              <>
                <code>{name}</code>{' '}
              </>
            ))}
          </p>
        </details>
      )}
    </Part>
  )
}
