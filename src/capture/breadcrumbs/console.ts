import { Console } from 'node:console'
import { channel, subscribe, unsubscribe } from 'node:diagnostics_channel'
import { Writable } from 'node:stream'
import { guarded } from '../guarded.js'
import { hasRoomForBreadcrumb } from '../guards/stack-room.js'
import type { Source } from '../sources/source.js'
import { formatArguments } from './console-text.js'
import { subscribeAll } from './subscriptions.js'
import { wrapMethod } from './wrap-method.js'

const METHODS = ['log', 'info', 'warn', 'error', 'debug'] as const

/** Records the host's console output without changing it. */
export const consoleLines: Source = (reporter) => {
  const { breadcrumbs, counters, redactor } = reporter.context
  if (!breadcrumbs.isEnabledFor('console')) return () => {}
  // Skips warnings that Node.js prints to the console, because each warning has its own breadcrumb.
  const warningPrefix = `(node:${process.pid}) `
  const recordCall = guarded(counters, 'console', (level: string, values: readonly unknown[]) => {
    if (!hasRoomForBreadcrumb()) return
    if (level === 'error' && typeof values[0] === 'string' && values[0].startsWith(warningPrefix)) return
    breadcrumbs.add({
      category: 'console',
      message: formatArguments(values, redactor.isSensitiveKey),
      metadata: { level },
    })
  })
  if (consoleHasChannels()) {
    return subscribeAll(
      reporter,
      Object.fromEntries(
        METHODS.map((level) => [`console.${level}`, (values: unknown[]) => recordCall(level, values)]),
      ),
    )
  }
  const restorers = METHODS.map((level) =>
    wrapMethod(console, level, (original) => {
      return function (this: unknown, ...values: unknown[]) {
        recordCall(level, values)
        return Reflect.apply(original, this, values)
      }
    }),
  )
  return () => {
    for (const restore of restorers) restore()
  }
}

/** Node.js 20 has no console channels, and there is no feature flag, so a trial call detects them. */
function consoleHasChannels(): boolean {
  // Other listeners would receive the trial call.
  if (channel('console.debug').hasSubscribers) return nodeMajorVersion() > 20
  let isReceived = false
  const onMessage = () => {
    isReceived = true
  }
  subscribe('console.debug', onMessage)
  new Console(new Writable({ write: (_chunk, _encoding, done) => done() })).debug('')
  unsubscribe('console.debug', onMessage)
  return isReceived
}

function nodeMajorVersion(): number {
  return Number.parseInt(process.versions.node, 10)
}
