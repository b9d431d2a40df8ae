import { shownAddress, withoutQueries } from './address.js'
import { plain, printed } from './plain.js'
import { attempt, quietly } from './quietly.js'
import { createSender, type Sender } from './sender.js'
import { describe } from './thrown.js'
import type {
  BrowserClient,
  BrowserOptions,
  ClientBreadcrumb,
  ClientEvent,
  Details,
  KeptBreadcrumb,
  Listen,
} from './types.js'
import { watchPage } from './watch-page.js'
import { type Undo, wrap } from './wrap.js'

export type { BrowserClient, BrowserOptions, ClientBreadcrumb, ClientEvent, Details } from './types.js'

let current: BrowserClient | undefined

/**
 * Reports the errors of this page to the host's reporting endpoint. Never throws and does not change the page. Does
 * nothing without a page, as in server-side rendering. Stops a client that was started before.
 * @example const client = start({ endpoint: '/client_errors', app_version: '1.4.0' })
 */
export function start(options: BrowserOptions): BrowserClient {
  if (current) current.stop()
  const {
    app_version,
    sample_rate = 1,
    max_per_minute = 60,
    ignore = [],
    breadcrumbs = true,
    before_send = (event: ClientEvent) => event,
  } = options
  const undo: Undo[] = []
  const seen = new WeakMap<object, ClientEvent>()
  const crumbs: KeptBreadcrumb[] = []
  const pending: ClientEvent[] = []
  const context = {}
  let notify: Sender[0] = () => {}
  let flush: Sender[1] = async () => {}
  let user_id: string | number | null | undefined
  let minute = 0
  let this_minute = 0
  let left_out = 0

  function capture(error: unknown, more: Details = {}, place?: string): void {
    const known = seen.get(error as object)
    if (known) {
      addDetails(known, more)
      return
    }
    const { platform, userAgent: version } = navigator
    const timestamp = Date.now()
    const event = {
      event_id: `${timestamp}${Math.random()}`,
      platform: 'Web',
      app_version,
      url: location.origin + location.pathname,
      timestamp,
      user_id,
      device_info: { platform, version },
      count: 1,
      ...describe(error, place),
      breadcrumbs: plain(crumbs),
      context: { ...context, left_out: left_out || undefined },
    } as ClientEvent
    addDetails(event, more)
    // Only objects can be recognized again.
    attempt(() => seen.set(error as object, event))

    const text = `${event.error_type}: ${event.message}`
    // Any match makes the text longer, even an empty one.
    if (ignore.some((one) => text.replace(one, '$&.') !== text) || Math.random() >= sample_rate) return
    if (timestamp - minute > 60_000) {
      minute = timestamp
      this_minute = 0
    }
    const twin = pending.find((one) => one.message + one.stack === event.message + event.stack)
    if (twin) twin.count++
    else if (this_minute++ >= max_per_minute || pending[50]) left_out++
    else {
      left_out = 0
      notify(pending.push(event))
    }
  }

  /** The host's filter runs when the event is complete, and before it is stored anywhere. */
  function gather(): ClientEvent[] {
    // If the filter throws, the event is dropped, because it may contain data that should have been removed.
    const sent = pending.splice(0).map((event) => plain(attempt(() => before_send(event))))
    return sent.filter(Boolean) as ClientEvent[]
  }

  function addCrumb(crumb: ClientBreadcrumb): KeptBreadcrumb {
    const kept = { timestamp: Date.now(), ...plain(crumb) }
    kept.message = withoutQueries(kept.message.slice(0, 200))
    if (crumbs.push(kept) > 20) crumbs.shift()
    return kept
  }

  const listen: Listen = (type, heard) => {
    const listener = (event: unknown) => quietly(() => heard(event as never))
    addEventListener(type, listener, true)
    undo.push(() => removeEventListener(type, listener, true))
  }

  quietly(() => {
    ;[notify, flush] = createSender(options, gather, listen)
    listen('error', ({ type, target, error, message, filename, lineno, colno }: ErrorEvent) => {
      const { tagName, src, href } = target as HTMLScriptElement & HTMLLinkElement
      // A page can have a global with any name, including tagName.
      if ((target as unknown) === window) {
        // For a script of another origin, the browser only provides a message.
        const thrown = error == null ? { name: 'Error', message } : error
        capture(thrown, { tags: { source: type } }, filename && `    at ${filename}:${lineno}:${colno}`)
      } else if (options.resources)
        capture({ name: 'ResourceError', message: `${tagName} ${shownAddress(src || href)}` })
    })
    listen('unhandledrejection', ({ type, reason }: PromiseRejectionEvent) =>
      capture(reason, { tags: { source: type } }),
    )
    for (const level of breadcrumbs || options.console ? (['warn', 'error'] as const) : []) {
      const printing = (_: never, args: unknown[]) => {
        const message = printed(args)
        if (options.console && level === 'error') {
          capture(args.find((one) => attempt(() => one instanceof Error)) || { name: 'ConsoleError', message })
        }
        if (breadcrumbs) addCrumb({ category: 'console', message, metadata: { level } })
        return undefined
      }
      undo.push(wrap(console, level, printing))
    }
    if (breadcrumbs) watchPage(addCrumb, listen, undo)
  })

  current = {
    report: (error, more) => quietly(() => capture(error, more)),
    addBreadcrumb: (crumb) => void quietly(() => addCrumb(crumb)),
    setContext: (values) => void quietly(() => Object.assign(context, plain(values))),
    setUser(id) {
      user_id = id
    },
    flush,
    stop() {
      for (const back of undo.splice(0)) back()
      return flush()
    },
  }
  return current
}

function addDetails(event: ClientEvent, more: Details): void {
  const { tags, context } = event
  const details = plain(more)
  Object.assign(event, details, { tags: { ...tags, ...details.tags }, context: { ...context, ...details.context } })
}
