import type { Rendered } from '../../../define.js'

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

const TRACE_ID = /^[0-9a-f]{16,32}$/

/**
 * Builds the URL of a trace from the operator's template; null without a template or for an invalid trace id.
 * @example traceLink('https://traces.example/trace/{trace_id}', { trace_id: '4bf92f3577b34da6a3ce929d0e0e4736' })
 */
export function traceLink(
  template: string | null,
  { trace_id, span_id }: { trace_id?: unknown; span_id?: unknown },
): string | null {
  // Imported data can contain anything under these names.
  if (template === null || typeof trace_id !== 'string' || !TRACE_ID.test(trace_id)) return null
  const span = typeof span_id === 'string' && TRACE_ID.test(span_id) ? span_id : ''
  return template.replaceAll('{trace_id}', trace_id).replaceAll('{span_id}', span)
}
