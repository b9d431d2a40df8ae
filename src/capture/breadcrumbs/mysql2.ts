import { statementText } from '../../model/statement-text.js'
import { isOwnQuery } from '../../store/dialects/own-queries.js'
import { hasRoomToNote } from '../guards/stack-room.js'
import type { Source } from '../sources/source.js'
import type { Trail } from './breadcrumbs.js'
import { beginStep, codeOf, endStep, type PendingStep } from './pending-step.js'
import { type Listeners, listenOn } from './subscriptions.js'

interface Traced {
  query?: unknown
  result?: unknown
  error?: unknown
}

/** Statements of mysql2, published on its tracing channels. */
export const mysql2Queries: Source = (reporter) => {
  const { breadcrumbs } = reporter.context
  if (!breadcrumbs.keeps('sql')) return () => {}
  const pending = new WeakMap<Traced, PendingStep>()
  const waiting = new WeakMap<Traced, Trail>()
  let granted: Trail | undefined

  const onStart = (traced: Traced) => {
    if (isOwnQuery() || typeof traced.query !== 'string' || !hasRoomToNote()) return
    const message = statementText(traced.query, 'mysql')
    const step = beginStep(breadcrumbs, { category: 'sql', message, metadata: { system: 'mysql' } }, granted)
    if (step) pending.set(traced, step)
  }
  const onEnd = (traced: Traced) => {
    const step = pending.get(traced)
    if (step) endStep(step, traced.error ? { error: codeOf(traced.error) } : rowsOf(traced.result))
  }
  const traces = (name: string): Listeners => ({
    [`tracing:${name}:start`]: onStart,
    [`tracing:${name}:asyncStart`]: onEnd,
    [`tracing:${name}:error`]: onEnd,
  })
  return listenOn(reporter, {
    ...traces('mysql2:query'),
    ...traces('mysql2:execute'),
    // A waiting caller receives its pool connection in the async context of the caller that released it. Without this,
    // `pool.query` would add its step to the wrong trail.
    'tracing:mysql2:pool:connect:start': (traced: Traced) => {
      if (isOwnQuery()) return
      const trail = breadcrumbs.trail()
      waiting.set(traced, trail)
      breadcrumbs.connecting(trail)
    },
    'tracing:mysql2:pool:connect:asyncStart': (traced: Traced) => {
      granted = waiting.get(traced)
    },
    'tracing:mysql2:pool:connect:asyncEnd': () => {
      granted = undefined
    },
  })
}

function rowsOf(result: unknown): { rows: number } | undefined {
  if (Array.isArray(result)) return { rows: result.length }
  if (typeof result !== 'object' || result === null) return undefined
  const affected = Object.getOwnPropertyDescriptor(result, 'affectedRows')?.value
  return typeof affected === 'number' ? { rows: affected } : undefined
}
