import type { Report } from './nest-filters.js'

interface HttpAdapter {
  reply?(response: { req?: unknown; request?: unknown }, body: unknown, ...rest: unknown[]): unknown
}

/** Reports file streams that fail while they are sent. Such errors bypass every filter, and Express only logs them. */
export function watchFileStreams(adapter: unknown, report: Report): void {
  const { reply } = adapter as HttpAdapter
  if (!reply) return
  ;(adapter as HttpAdapter).reply = function (response, body, ...rest) {
    const stream = fileStream(body)
    if (stream?.errored) report(stream.errored, [response.req ?? response.request], {})
    // Nest listens too, so this listener does not hide an error.
    else stream?.once('error', (error) => report(error, [response.req ?? response.request], {}))
    return reply.call(this, response, body, ...rest)
  }
}

interface FailingStream {
  errored?: unknown
  once(event: 'error', listener: (error: unknown) => void): unknown
}

/** The stream of a `StreamableFile`. */
function fileStream(body: unknown): FailingStream | null {
  if (typeof body !== 'object' || body === null) return null
  const { getStream, errorHandler } = body as { getStream?: () => FailingStream; errorHandler?: unknown }
  return typeof getStream === 'function' && typeof errorHandler === 'function' ? getStream.call(body) : null
}

export interface ResponseController {
  sse?(result: unknown, response: { headersSent?: boolean }, request: unknown, ...rest: unknown[]): unknown
}

/** Reports failures of started server-sent events, which reach the client but no filter. */
export function watchServerSentEvents(controller: ResponseController | undefined, report: Report): void {
  const sse = controller?.sse
  if (!sse) return
  controller.sse = function (result, response, request, ...rest) {
    // Before the headers are sent, a filter receives and reports the error.
    const reportAfterHeaders = (error: unknown) => response.headersSent && report(error, [request], {})
    const observed = Promise.resolve(result).then((events) => withErrorReport(events, reportAfterHeaders))
    return sse.call(this, observed, response, request, ...rest)
  }
}

interface Observer {
  error(error: unknown): void
}

interface Events {
  subscribe(observer: Observer): unknown
}

/** Wraps the observable transparently and reports its errors. */
function withErrorReport(events: unknown, report: (error: unknown) => unknown): unknown {
  if (typeof events !== 'object' || typeof (events as Events | null)?.subscribe !== 'function') return events
  const source = events as Events
  const subscribe = (observer: Observer) => {
    // Replaces the method because a second observer would have to forward unsubscribing, so that no events are
    // produced after the client disconnects.
    const { error: onError } = observer
    observer.error = function (error) {
      report(error)
      onError.call(this, error)
    }
    return source.subscribe(observer)
  }
  return Object.create(source, { subscribe: { value: subscribe } })
}
