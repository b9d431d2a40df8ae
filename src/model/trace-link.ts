const ID = /^[0-9a-f]{16,32}$/

/**
 * Builds the URL of a trace from the operator's template; null without a template or for an invalid trace id.
 * @example traceLink('https://traces.example/trace/{trace_id}', { trace_id: '4bf92f3577b34da6a3ce929d0e0e4736' })
 */
export function traceLink(
  template: string | null,
  { trace_id, span_id }: { trace_id?: unknown; span_id?: unknown },
): string | null {
  // Imported data can contain anything under these names.
  if (template === null || typeof trace_id !== 'string' || !ID.test(trace_id)) return null
  const span = typeof span_id === 'string' && ID.test(span_id) ? span_id : ''
  return template.replaceAll('{trace_id}', trace_id).replaceAll('{span_id}', span)
}
