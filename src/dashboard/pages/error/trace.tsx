import { traceLink } from '../../../model/trace-link.js'
import type { Rendered } from '../../define.js'

/** Trace of the occurrence, linked if `trace_url_template` is set. */
export function Trace({
  trace_id,
  span_id,
  template,
}: {
  trace_id: unknown
  span_id: unknown
  template: string | null
}): Rendered {
  if (typeof trace_id !== 'string') return null
  const link = traceLink(template, { trace_id, span_id })
  return (
    <section class="panel" aria-labelledby="trace-title">
      <div class="panel-head">
        <h2 id="trace-title">Trace</h2>
        {link && (
          <a href={link} rel="noreferrer noopener" target="_blank">
            Open trace
          </a>
        )}
      </div>
      <dl class="facts">
        <dt>trace_id</dt>
        <dd>
          <code>{trace_id}</code>
        </dd>
        {typeof span_id === 'string' && (
          <>
            <dt>span_id</dt>
            <dd>
              <code>{span_id}</code>
            </dd>
          </>
        )}
      </dl>
    </section>
  )
}
