import { redactUrls, safeUrl } from './address.js'
import { formatValues, toPlainData } from './plain.js'
import { attempt, runQuietly } from './quietly.js'
import { createSender, type Sender } from './sender.js'
import { describeThrown } from './thrown.js'
import type {
  BrowserClient,
  BrowserOptions,
  ClientBreadcrumb,
  ClientEvent,
  Details,
  Listen,
  StoredBreadcrumb,
} from './types.js'
import { watchPage } from './watch-page.js'
import { type Undo, wrap } from './wrap.js'

export type { BrowserClient, BrowserOptions, ClientBreadcrumb, ClientEvent, Details } from './types.js'

let currentClient: BrowserClient | undefined

/**
 * Reports the errors of this page to the host's reporting endpoint. Never throws and does not change the page. Does
 * nothing without a page, as in server-side rendering. Stops the previous client, if any.
 * @example const client = start({ endpoint: '/client_errors', app_version: '1.4.0' })
 */
export function start(options: BrowserOptions): BrowserClient {
  if (currentClient) currentClient.stop()
  const {
    appVersion,
    app_version = appVersion,
    sampleRate = 1,
    sample_rate = sampleRate,
    maxPerMinute = 60,
    max_per_minute = maxPerMinute,
    beforeSend = (event: ClientEvent) => event,
    before_send = beforeSend,
    ignore = [],
    breadcrumbs = true,
  } = options
  const undo: Undo[] = []
  const seen = new WeakMap<object, ClientEvent>()
  const recentBreadcrumbs: StoredBreadcrumb[] = []
  const pending: ClientEvent[] = []
  const context = {}
  let notify: Sender[0] = () => {}
  let flush: Sender[1] = async () => {}
  let user_id: string | number | null | undefined
  let minuteStart = 0
  let sentThisMinute = 0
  let droppedCount = 0

  function capture(error: unknown, extra: Details = {}, fallbackFrame?: string): void {
    const earlier = seen.get(error as object)
    if (earlier) {
      addDetails(earlier, extra)
      return
    }
    const { platform, userAgent: version } = navigator
    const timestamp = Date.now()
    const event = {
      event_id: `${timestamp}${Math.random()}`,
      platform: 'Web',
      app_version,
      environment: options.environment,
      url: location.origin + location.pathname,
      timestamp,
      user_id,
      device_info: { platform, version },
      count: 1,
      ...describeThrown(error, fallbackFrame),
      breadcrumbs: toPlainData(recentBreadcrumbs),
      context: { ...context, left_out: droppedCount || undefined },
    } as ClientEvent
    addDetails(event, extra)
    // Fails for primitives, which have no identity: repeated reports of a primitive are not deduplicated.
    attempt(() => seen.set(error as object, event))

    const text = `${event.error_type}: ${event.message}`
    // Any match makes the text longer, even an empty match.
    if (ignore.some((candidate) => text.replace(candidate, '$&.') !== text) || Math.random() >= sample_rate) return
    if (timestamp - minuteStart > 60_000) {
      minuteStart = timestamp
      sentThisMinute = 0
    }
    const duplicate = pending.find((candidate) => candidate.message + candidate.stack === event.message + event.stack)
    if (duplicate) duplicate.count++
    else if (sentThisMinute++ >= max_per_minute || pending[50]) droppedCount++
    else {
      droppedCount = 0
      notify(pending.push(event))
    }
  }

  /** The host's filter runs when the event is complete, and before it is stored anywhere. */
  function takePending(): ClientEvent[] {
    // If the filter throws, the event is dropped, because it may contain data that should have been removed.
    const filtered = pending.splice(0).map((event) => toPlainData(attempt(() => before_send(event))))
    return filtered.filter(Boolean) as ClientEvent[]
  }

  function recordBreadcrumb(crumb: ClientBreadcrumb): StoredBreadcrumb {
    const breadcrumb = { timestamp: Date.now(), ...toPlainData(crumb) }
    breadcrumb.message = redactUrls(breadcrumb.message.slice(0, 200))
    if (recentBreadcrumbs.push(breadcrumb) > 20) recentBreadcrumbs.shift()
    return breadcrumb
  }

  const listen: Listen = (type, handler) => {
    const listener = (event: unknown) => runQuietly(() => handler(event as never))
    addEventListener(type, listener, true)
    undo.push(() => removeEventListener(type, listener, true))
  }

  runQuietly(() => {
    ;[notify, flush] = createSender(options, takePending, listen)
    listen('error', ({ type, target, error, message, filename, lineno, colno }: ErrorEvent) => {
      const { tagName, src, href } = target as HTMLScriptElement & HTMLLinkElement
      // A page can have a global with any name, including tagName.
      if ((target as unknown) === window) {
        // For a cross-origin script, the browser only provides a message.
        const thrown = error == null ? { name: 'Error', message } : error
        capture(thrown, { tags: { source: type } }, filename && `    at ${filename}:${lineno}:${colno}`)
      } else if (options.resources) capture({ name: 'ResourceError', message: `${tagName} ${safeUrl(src || href)}` })
    })
    listen('unhandledrejection', ({ type, reason }: PromiseRejectionEvent) =>
      capture(reason, { tags: { source: type } }),
    )
    for (const level of breadcrumbs || options.console ? (['warn', 'error'] as const) : []) {
      const onPrint = (_: never, args: unknown[]) => {
        const message = formatValues(args)
        if (options.console && level === 'error') {
          capture(
            args.find((candidate) => attempt(() => candidate instanceof Error)) || { name: 'ConsoleError', message },
          )
        }
        if (breadcrumbs) recordBreadcrumb({ category: 'console', message, metadata: { level } })
        return undefined
      }
      undo.push(wrap(console, level, onPrint))
    }
    if (breadcrumbs) watchPage(recordBreadcrumb, listen, undo)
  })

  currentClient = {
    report: (error, extra) => runQuietly(() => capture(error, extra)),
    addBreadcrumb: (crumb) => void runQuietly(() => recordBreadcrumb(crumb)),
    setContext: (values) => void runQuietly(() => Object.assign(context, toPlainData(values))),
    setUser(id) {
      user_id = id
    },
    flush,
    stop() {
      for (const undoHook of undo.splice(0)) undoHook()
      return flush()
    },
  }
  return currentClient
}

function addDetails(event: ClientEvent, extra: Details): void {
  const { tags, context } = event
  const details = toPlainData(extra)
  Object.assign(event, details, { tags: { ...tags, ...details.tags }, context: { ...context, ...details.context } })
}
