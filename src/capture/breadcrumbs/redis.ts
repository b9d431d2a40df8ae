import { describeUntracedVersion } from '../../config/supported-packages.js'
import { hasRoomForBreadcrumb } from '../guards/stack-room.js'
import type { Source } from '../sources/source.js'
import { endBreadcrumb, errorCode, type PendingBreadcrumb, startBreadcrumb } from './pending-breadcrumb.js'
import { type Listeners, subscribeAll } from './subscriptions.js'

interface TracedCommand {
  command?: unknown
  args?: unknown
  error?: unknown
}

/** Commands of ioredis and node-redis, published on tracing channels. */
export const redisCommands: Source = (reporter) => {
  const { breadcrumbs, log } = reporter.context
  if (!breadcrumbs.isEnabledFor('redis')) return () => {}
  const problem = describeUntracedVersion(['ioredis', 'redis'])
  if (problem) log.warn(problem)
  const pending = new WeakMap<TracedCommand, PendingBreadcrumb>()
  const onStart = (trace: TracedCommand) => {
    if (!hasRoomForBreadcrumb()) return
    const crumb = startBreadcrumb(breadcrumbs, { category: 'redis', message: commandText(trace) })
    if (crumb) pending.set(trace, crumb)
  }
  const onEnd = (trace: TracedCommand) => {
    const crumb = pending.get(trace)
    if (crumb) endBreadcrumb(crumb, trace.error ? { error: errorCode(trace.error) } : undefined)
  }
  const tracingListeners = (name: string): Listeners => ({
    [`tracing:${name}:start`]: onStart,
    [`tracing:${name}:asyncStart`]: onEnd,
    [`tracing:${name}:error`]: onEnd,
  })
  return subscribeAll(reporter, { ...tracingListeners('ioredis:command'), ...tracingListeners('node-redis:command') })
}

/** Commands whose first argument is not a key. Any argument of a script can be a value. */
const KEYLESS_COMMANDS =
  /^(?:acl|auth|client|cluster|config|echo|eval|fcall|function|hello|memory|migrate|module|monitor|object|ping|script|select|xgroup|xread)/i

/** The command and its key, without the stored value. */
function commandText({ command, args }: TracedCommand): string {
  const name = typeof command === 'string' ? command.toUpperCase() : 'COMMAND'
  if (!Array.isArray(args) || KEYLESS_COMMANDS.test(name)) return name
  // node-redis includes the command in the arguments.
  const key = String(args[0]).toUpperCase() === name ? args[1] : args[0]
  return typeof key === 'string' ? `${name} ${keyText(key)}` : name
}

/** Shows only the words of a key: `session:8f3a…` contains a secret. */
function keyText(key: string): string {
  const parts = key.slice(0, MAX_KEY_LENGTH).split(/([:/|{}])/)
  return parts.map((part) => (/\d|.{25}/.test(part) ? '?' : part)).join('')
}

const MAX_KEY_LENGTH = 200
