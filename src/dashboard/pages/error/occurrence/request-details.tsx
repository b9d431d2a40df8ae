import { MAX_TAG_KEYS, MAX_TAG_VALUES, storedTag, tagText } from '../../../../model/tags.js'
import { OMITTED_KEYS } from '../../../../model/text.js'
import type { FindableTags } from '../../../../triage/list/tag-suggestions.js'
import type { ErrorRecord } from '../../../../triage/queries/error-record.js'
import type { Rendered, Visit } from '../../../define.js'
import { href } from '../../../links/href.js'
import { CopyButton } from '../../../ui/copy.js'
import { describeClient } from './client.js'
import { FactList, isEmpty, Values } from './facts.js'
import { Trace } from './trace.js'

/** Request and user of an occurrence, and its tags. */
export function RequestDetails({
  record,
  curl,
  findable,
  visit,
}: {
  record: ErrorRecord
  curl: string | null
  /** Tags that filters find. */
  findable: FindableTags
  visit: Visit
}): Rendered {
  const { trace_id, span_id, details_omitted } = record.details
  return (
    <>
      {details_omitted === 'event_loop_lag' && (
        <p class="meta muted details-note">
          Recorded without parameters, context and breadcrumbs: the event loop was lagging.
        </p>
      )}
      <Request record={record} curl={curl} />
      <Tags tags={record.tags} findable={findable} visit={visit} />
      <Trace trace_id={trace_id} span_id={span_id} template={visit.options.trace_url_template} />
    </>
  )
}

function Request({ record, curl }: { record: ErrorRecord; curl: string | null }) {
  const { method, route, content_type, duration_ms, headers } = record.request ?? {}
  const client = describeClient(record.user_agent)
  const rows = [
    ['Request', [method, record.request_url].filter(Boolean).join(' ')],
    ['Route', route],
    ['User', record.occurrence?.user_id],
    ['Browser', client.browser],
    ['System', client.system],
    ['Device', client.device],
    ['IP address', record.ip_address],
    ['User agent', record.user_agent],
    ['Content type', content_type],
    ['Duration', typeof duration_ms !== 'number' ? null : `${duration_ms} ms`],
  ] as const
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

/** Tags of the occurrence. Tags that filters find link to the matching errors. */
function Tags({ tags, findable, visit }: { tags: Record<string, unknown>; findable: FindableTags; visit: Visit }) {
  if (isEmpty(tags)) return null
  const { [OMITTED_KEYS]: note, ...shown } = tags
  const fullKeys = Object.entries(shown).flatMap(([name, value]) => {
    const key = storedTag(name, value)?.key
    return key !== undefined && findable.fullKeys.includes(key) ? [key] : []
  })
  return (
    <section class="panel" aria-labelledby="tags-title">
      <div class="panel-head">
        <h2 id="tags-title">Tags</h2>
      </div>
      <dl class="tags">
        {Object.entries(shown).map(([name, value]) => {
          const text = tagText(value)
          const stored = storedTag(name, value)
          return (
            <div class="tag">
              <dt>
                <bdi>{name}</bdi>
              </dt>
              <dd>
                {stored && findable.tags.some((tag) => tag.key === stored.key && tag.value === stored.value) ? (
                  <a href={href(visit, '/errors', { tag: `${stored.key}:${stored.value}` })} title={text}>
                    <bdi>{text}</bdi>
                  </a>
                ) : (
                  <bdi>{text}</bdi>
                )}
              </dd>
            </div>
          )
        })}
      </dl>
      {note !== undefined && <p class="meta muted tags-note">{tagText(note)}</p>}
      {fullKeys.length > 0 && (
        <p class="meta muted tags-note">
          {`Too many values: filters find the first ${MAX_TAG_VALUES} of this error for `}
          <bdi>{fullKeys.join(', ')}</bdi>
        </p>
      )}
      {findable.fullKeys.includes(OMITTED_KEYS) && (
        <p class="muted">Too many tags: filters find the first {MAX_TAG_KEYS} names of this error.</p>
      )}
    </section>
  )
}
