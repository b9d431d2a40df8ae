import { types } from 'node:util'
import { hasRoomForBreadcrumb } from '../guards/stack-room.js'
import type { Source } from '../sources/source.js'
import { subscribeAll } from './subscriptions.js'

/** Channel on which pino publishes each line before writing it. */
export const PINO_CHANNEL = 'tracing:pino_asJson:start'

export interface PinoLine {
  instance: { bindings?(): unknown }
  arguments: readonly [fields: unknown, message: unknown, level: number, ...rest: unknown[]]
}

const LEVELS: Record<number, string> = { 10: 'trace', 20: 'debug', 30: 'info', 40: 'warn', 50: 'error', 60: 'fatal' }

/** Lines logged by the host with pino. Fields are omitted because they can be as large as a request. */
export const pinoLines: Source = (reporter) => {
  const { breadcrumbs } = reporter.context
  if (!breadcrumbs.isEnabledFor('log')) return () => {}
  return subscribeAll(reporter, {
    [PINO_CHANNEL]: ({ arguments: [fields, message, level] }: PinoLine) => {
      if (!hasRoomForBreadcrumb()) return
      const text = typeof message === 'string' ? message : ownMessage(fields)
      breadcrumbs.add({ category: 'log', message: text, metadata: { level: LEVELS[level] ?? level } })
    },
  })
}

function ownMessage(fields: unknown): string {
  if (typeof fields !== 'object' || fields === null || types.isProxy(fields)) return ''
  const message: unknown = Object.getOwnPropertyDescriptor(fields, 'msg')?.value
  return typeof message === 'string' ? message : ''
}
