import { readOptions } from '../../../../config/options.js'
import { localVariableOptions } from '../../../../diagnostics/variables/options.js'
import { isClientError } from '../../../../model/stacks/frame-source.js'
import type { ErrorRecord } from '../../../../triage/queries/error-record.js'
import type { Rendered, Visit } from '../../../define.js'
import { CopyButton } from '../../../ui/copy.js'
import { ValueTree } from '../../../ui/values/value-tree.js'
import { VariablesPanel } from '../../../ui/values/variables.js'
import type { ShownStacks } from '../stack/shown-stacks.js'
import { ProcessMoment } from './process-moment.js'
import { Trace } from './trace.js'

/** Request, variables, tags, context and other captured details of an occurrence. */
export function OccurrenceDetails({
  record,
  curl,
  stacks,
  visit,
}: {
  record: ErrorRecord
  curl: string | null
  stacks: Pick<ShownStacks, 'with_variables' | 'other_variables'>
  visit: Visit
}): Rendered {
  const { local_variables, variables, system_health, trace_id, span_id, frame_sources, ...details } = record.details
  const options = readOptions(visit.diagnosticOptions, localVariableOptions)
  return (
    <>
      <Request record={record} curl={curl} />
      {Array.isArray(local_variables ?? []) && isEmpty(variables) ? (
        <VariablesPanel
          others={stacks.other_variables}
          hasShownVariables={stacks.with_variables > 0}
          isFromOtherProcess={isClientError(record.details)}
          isEnabled={options.enable_local_variables}
          mode={options.local_variable_mode}
        />
      ) : (
        <Data title="Variables" values={local_variables ?? variables} tree />
      )}
      <ProcessMoment health={system_health} />
      <Trace trace_id={trace_id} span_id={span_id} template={visit.options.trace_url_template} />
      <Data title="Tags" values={record.tags} />
      <Data title="Context" values={withoutUserAgent(record.context, record.user_agent)} />
      <Data title="Details" values={details} />
    </>
  )
}

/** Removes the user agent from the device context, because the request section shows it already. */
function withoutUserAgent(context: unknown, user_agent: string | null): unknown {
  if (!isObject(context) || !('device' in context) || !isObject(context.device) || !user_agent) return context
  const { device, ...others } = context
  const remaining = Object.entries(device as object).filter(([, value]) => value !== user_agent)
  return remaining.length > 0 ? { ...others, device: fromEntries(remaining) } : others
}

function Request({ record, curl }: { record: ErrorRecord; curl: string | null }) {
  const { method, route, content_type, duration_ms, headers } = record.request ?? {}
  const rows: FactRows = [
    ['Request', [method, record.request_url].filter(Boolean).join(' ')],
    ['Route', route],
    ['User', record.occurrence?.user_id],
    ['IP address', record.ip_address],
    ['User agent', record.user_agent],
    ['Content type', content_type],
    ['Duration', typeof duration_ms !== 'number' ? null : `${duration_ms} ms`],
  ]
  if (rows.every(([, value]) => !value) && isEmpty(record.request_params)) return null
  return (
    <section class="panel" aria-labelledby="request-title">
      <div class="panel-head">
        <h2 id="request-title">Request</h2>
        {curl && <CopyButton from="copy-curl" label="Copy as curl" />}
      </div>
      <FactList rows={rows} />
      {!isEmpty(record.request_params) && (
        <>
          <h3>Parameters</h3>
          <Values values={record.request_params} />
        </>
      )}
      {!isEmpty(headers) && (
        <details>
          <summary>Headers</summary>
          <Values values={headers} />
        </details>
      )}
    </section>
  )
}

type FactRows = readonly (readonly [label: string, value: unknown])[]

function FactList({ rows }: { rows: FactRows }) {
  return (
    <dl class="facts">
      {rows
        .filter(([, value]) => value !== null && value !== undefined && value !== '')
        .map(([label, value]) => (
          <>
            <dt>{label}</dt>
            <dd dir="auto">{String(value)}</dd>
          </>
        ))}
    </dl>
  )
}

/** Flat values as rows, nested values as a tree. */
function Data({ title, values, tree = false }: { title: string; values: unknown; tree?: boolean }) {
  if (isEmpty(values)) return null
  const id = `${title.toLowerCase()}-title`
  return (
    <section class="panel" aria-labelledby={id}>
      <div class="panel-head">
        <h2 id={id}>{title}</h2>
      </div>
      {tree ? <ValueTree value={values} /> : <Values values={values} />}
    </section>
  )
}

function Values({ values }: { values: unknown }) {
  if (!isObject(values) || Array.isArray(values)) return <ValueTree value={values} />
  const entries = Object.entries(values).flatMap(flattenOneLevel)
  const flat = entries.filter(([, value]) => !isObject(value))
  const nested = entries.filter(([, value]) => isObject(value))
  return (
    <>
      {flat.length > 0 && (
        <FactList rows={flat.map(([key, value]) => [key, value === null ? 'null' : value] as const)} />
      )}
      {nested.length > 0 && <ValueTree value={fromEntries(nested)} />}
    </>
  )
}

/** Flattens an object of plain values one level (`process.pid`). */
function flattenOneLevel([key, value]: [string, unknown]): [string, unknown][] {
  if (!isObject(value) || Array.isArray(value)) return [[key, value]]
  const inner = Object.entries(value)
  const isShort = inner.length > 0 && inner.every(([, item]) => !isObject(item))
  return isShort ? inner.map(([name, item]) => [`${key}.${name}`, item]) : [[key, value]]
}

/** Creates an object without a prototype, because a parameter may be named `__proto__`. */
function fromEntries(entries: readonly [string, unknown][]): Record<string, unknown> {
  const result: Record<string, unknown> = Object.create(null)
  for (const [key, value] of entries) result[key] = value
  return result
}

function isEmpty(value: unknown): boolean {
  if (value === null || value === undefined || value === '') return true
  return isObject(value) && Object.keys(value).length === 0
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null
}
