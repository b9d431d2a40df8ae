import type { Report } from './nest-filters.js'

interface HttpAdapter {
  reply?(response: { req?: unknown; request?: unknown }, body: unknown, ...more: unknown[]): unknown
}

/** A stream that fails while it is being sent goes past every filter: Express only logs it. */
export function watchFiles(adapter: unknown, report: Report): void {
  const { reply } = adapter as HttpAdapter
  if (!reply) return
  ;(adapter as HttpAdapter).reply = function (response, body, ...more) {
    const stream = streamOf(body)
    if (stream?.errored) report(stream.errored, [response.req ?? response.request], {})
    // Nest listens as well, so a listener of ours keeps no error from being noticed.
    else stream?.once('error', (error) => report(error, [response.req ?? response.request], {}))
    return reply.call(this, response, body, ...more)
  }
}

interface FailingStream {
  errored?: unknown
  once(event: 'error', listener: (error: unknown) => void): unknown
}

/** The stream of a `StreamableFile`. */
function streamOf(body: unknown): FailingStream | null {
  if (typeof body !== 'object' || body === null) return null
  const { getStream, errorHandler } = body as { getStream?: () => FailingStream; errorHandler?: unknown }
  return typeof getStream === 'function' && typeof errorHandler === 'function' ? getStream.call(body) : null
}

export interface ResponseController {
  sse?(result: unknown, response: { headersSent?: boolean }, request: unknown, ...more: unknown[]): unknown
}

/** Events that were promised to the client and fail later are told to the client, and to no filter. */
export function watchServerSentEvents(controller: ResponseController | undefined, report: Report): void {
  const sse = controller?.sse
  if (!sse) return
  controller.sse = function (result, response, request, ...more) {
    // Until then a filter is asked, which reports it.
    const late = (error: unknown) => response.headersSent && report(error, [request], {})
    const watched = Promise.resolve(result).then((events) => watch(events, late))
    return sse.call(this, watched, response, request, ...more)
  }
}

interface Observer {
  error(error: unknown): void
}

interface Events {
  subscribe(observer: Observer): unknown
}

/** The same observable to those who look at it, with an ear on its errors. */
function watch(events: unknown, report: (error: unknown) => unknown): unknown {
  if (typeof events !== 'object' || typeof (events as Events | null)?.subscribe !== 'function') return events
  const source = events as Events
  const subscribe = (observer: Observer) => {
    // An observer in between would have to pass on its own end too, or the events went on for a client that has left.
    const { error: fail } = observer
    observer.error = function (error) {
      report(error)
      fail.call(this, error)
    }
    return source.subscribe(observer)
  }
  return Object.create(source, { subscribe: { value: subscribe } })
}
