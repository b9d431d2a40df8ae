import { parseTrace } from '../capture/facts/trace.js'
import type { LogErrorInput, RequestFacts } from '../capture/fields.js'

/** Seconds and nanoseconds since 1970. */
type HrTime = readonly [number, number]

/** Subset of an OpenTelemetry span that the processor uses. */
export interface SpanLike {
  readonly name: string
  readonly attributes: Readonly<Record<string, unknown>>
  readonly events: readonly {
    name: string
    time: HrTime
    attributes?: Readonly<Record<string, unknown>> | undefined
  }[]
  readonly resource: { readonly attributes: Readonly<Record<string, unknown>> }
  readonly parentSpanContext?: { spanId: string } | undefined
  /** Parent id before version 2 of the SDK. */
  readonly parentSpanId?: string | undefined
  spanContext(): { traceId: string; spanId: string }
}

/** An exception recorded on a span. */
export interface SpanException {
  trace_id: string
  span_id: string
  error_type: string
  message: string
  stack: string
  input: LogErrorInput
}

/** Exceptions of an ended span. */
export function readExceptions(span: SpanLike): SpanException[] {
  const events = span.events.filter(({ name }) => name === 'exception')
  if (events.length === 0) return []
  const { traceId, spanId } = span.spanContext()
  const trace = parseTrace(traceId, spanId)
  if (!trace) return []
  return events.map(({ time, attributes = {} }) => {
    const message = nonEmptyText(attributes['exception.message']) ?? ''
    const stack = nonEmptyText(attributes['exception.stacktrace']) ?? ''
    const { error_type, code } = readType(nonEmptyText(attributes['exception.type']), stack)
    return {
      ...{ trace_id: trace.trace_id, span_id: trace.span_id ?? '', error_type, message, stack },
      input: {
        exception: rebuildError({ error_type, message, stack, code }),
        occurred_at: toMilliseconds(time),
        ...trace,
        source: 'opentelemetry',
        ...spanFacts(span),
      },
    }
  })
}

/** OpenTelemetry uses the code of a system error as its type; the first line of the stack has the real type. */
function readType(recordedType: string | undefined, stack: string): { error_type: string; code?: string } {
  const stackType = /^([\w$.]{1,200})(?=:|\n|$)/.exec(stack)?.[1]
  const error_type = stackType ?? recordedType ?? 'Error'
  return recordedType !== undefined && recordedType !== error_type ? { error_type, code: recordedType } : { error_type }
}

interface ExceptionData {
  error_type: string
  message: string
  stack: string
  code?: string | undefined
}

/** Rebuilds an Error from the data on the span, so that it is grouped like any other error. */
function rebuildError({ error_type, message, stack, code }: ExceptionData): Error {
  const error = new Error(message)
  error.name = error_type
  error.stack = stack
  return code === undefined ? error : Object.assign(error, { code })
}

/** Uses the attribute names of the semantic conventions, before and after they became stable. */
function spanFacts({ name, attributes, resource }: SpanLike): LogErrorInput {
  const firstAttribute = (...keys: string[]) =>
    keys.map((key) => nonEmptyText(attributes[key])).find((value) => value !== undefined)
  const service = resource.attributes
  const request: RequestFacts = withoutUndefined({
    method: firstAttribute('http.request.method', 'http.method'),
    route: firstAttribute('http.route'),
  })
  return withoutUndefined({
    request_url: firstAttribute('url.full', 'http.url', 'url.path', 'http.target'),
    user_agent: firstAttribute('user_agent.original', 'http.user_agent'),
    user_id: firstAttribute('enduser.id', 'user.id'),
    app_version: nonEmptyText(service['service.version']),
    environment: nonEmptyText(service['deployment.environment.name'] ?? service['deployment.environment']),
    request: Object.keys(request).length > 0 ? request : undefined,
    context: {
      span: withoutUndefined({ name, service: nonEmptyText(service['service.name']), ...attributes }),
    },
  })
}

/** Drops undefined values, which would override the values of the request. */
function withoutUndefined<T extends object>(values: T): T {
  return Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined)) as T
}

function nonEmptyText(value: unknown): string | undefined {
  if (typeof value === 'number') return String(value)
  return typeof value === 'string' && value !== '' ? value : undefined
}

function toMilliseconds([seconds, nanoseconds]: HrTime): number {
  return seconds * 1000 + nanoseconds / 1e6
}
