import { hasRoomToNote } from '../guards/stack-room.js'
import type { Source } from '../sources/source.js'
import { beginStep, codeOf, endStep, type PendingStep } from './pending-step.js'
import { type Listeners, listenOn } from './subscriptions.js'

interface Traced {
  command?: unknown
  args?: unknown
  error?: unknown
}

/** Commands of ioredis and node-redis, published on tracing channels. */
export const redisCommands: Source = (reporter) => {
  const { breadcrumbs } = reporter.context
  if (!breadcrumbs.keeps('redis')) return () => {}
  const pending = new WeakMap<Traced, PendingStep>()
  const onStart = (traced: Traced) => {
    if (!hasRoomToNote()) return
    const step = beginStep(breadcrumbs, { category: 'redis', message: commandText(traced) })
    if (step) pending.set(traced, step)
  }
  const onEnd = (traced: Traced) => {
    const step = pending.get(traced)
    if (step) endStep(step, traced.error ? { error: codeOf(traced.error) } : undefined)
  }
  const traces = (name: string): Listeners => ({
    [`tracing:${name}:start`]: onStart,
    [`tracing:${name}:asyncStart`]: onEnd,
    [`tracing:${name}:error`]: onEnd,
  })
  return listenOn(reporter, { ...traces('ioredis:command'), ...traces('node-redis:command') })
}

/** Commands whose first argument is not a key. Any argument of a script can be a value. */
const WITHOUT_KEY =
  /^(?:acl|auth|client|cluster|config|echo|eval|fcall|function|hello|memory|migrate|module|monitor|object|ping|script|select|xgroup|xread)/i

/** The command and its key, without the stored value. */
function commandText({ command, args }: Traced): string {
  const name = typeof command === 'string' ? command.toUpperCase() : 'COMMAND'
  if (!Array.isArray(args) || WITHOUT_KEY.test(name)) return name
  // node-redis includes the command in the arguments.
  const key = String(args[0]).toUpperCase() === name ? args[1] : args[0]
  return typeof key === 'string' ? `${name} ${keyText(key)}` : name
}

/** Shows only the words of a key: `session:8f3a…` contains a secret. */
function keyText(key: string): string {
  const parts = key.slice(0, KEY_LENGTH).split(/([:/|{}])/)
  return parts.map((part) => (/\d|.{25}/.test(part) ? '?' : part)).join('')
}

const KEY_LENGTH = 200
