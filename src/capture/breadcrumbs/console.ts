import { Console } from 'node:console'
import { channel, subscribe, unsubscribe } from 'node:diagnostics_channel'
import { Writable } from 'node:stream'
import { guarded } from '../guarded.js'
import { hasRoomToNote } from '../guards/stack-room.js'
import type { Source } from '../sources/source.js'
import { textOfArguments } from './console-text.js'
import { listenOn } from './subscriptions.js'
import { wrapMethod } from './wrap-method.js'

const METHODS = ['log', 'info', 'warn', 'error', 'debug'] as const

/** Records console output of the host, which stays unchanged. */
export const consoleLines: Source = (reporter) => {
  const { breadcrumbs, counters, redactor } = reporter.context
  if (!breadcrumbs.keeps('console')) return () => {}
  // Node.js also prints warnings to the console; those have their own breadcrumbs.
  const warning = `(node:${process.pid}) `
  const note = guarded(counters, 'console', (level: string, values: readonly unknown[]) => {
    if (!hasRoomToNote()) return
    if (level === 'error' && typeof values[0] === 'string' && values[0].startsWith(warning)) return
    breadcrumbs.add({
      category: 'console',
      message: textOfArguments(values, redactor.isSensitiveKey),
      metadata: { level },
    })
  })
  if (consoleHasChannels()) {
    return listenOn(
      reporter,
      Object.fromEntries(METHODS.map((level) => [`console.${level}`, (values: unknown[]) => note(level, values)])),
    )
  }
  const ends = METHODS.map((level) =>
    wrapMethod(console, level, (original) => {
      return function (this: unknown, ...values: unknown[]) {
        note(level, values)
        return Reflect.apply(original, this, values)
      }
    }),
  )
  return () => {
    for (const end of ends) end()
  }
}

/** Node.js 20 has no console channels, and there is no feature flag, so a trial call detects them. */
function consoleHasChannels(): boolean {
  if (channel('console.debug').hasSubscribers) return major() > 20
  let heard = false
  const hear = () => {
    heard = true
  }
  subscribe('console.debug', hear)
  new Console(new Writable({ write: (_chunk, _encoding, done) => done() })).debug('')
  unsubscribe('console.debug', hear)
  return heard
}

/** Skipped if other code already listens, which would receive the trial call. */
function major(): number {
  return Number.parseInt(process.versions.node, 10)
}
