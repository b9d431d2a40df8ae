import { describeUntracedVersion } from '../../config/supported-packages.js'
import { statementText } from '../../model/sql/statement-text.js'
import { isOwnQuery } from '../../store/dialects/own-queries.js'
import { hasRoomForBreadcrumb } from '../guards/stack-room.js'
import type { Trail } from '../scope.js'
import type { Source } from '../sources/source.js'
import { endBreadcrumb, errorCode, type PendingBreadcrumb, startBreadcrumb } from './pending-breadcrumb.js'
import { type Listeners, subscribeAll } from './subscriptions.js'

interface TracedQuery {
  query?: unknown
  result?: unknown
  error?: unknown
}

/** Statements of mysql2, published on its tracing channels. */
export const mysql2Queries: Source = (reporter) => {
  const { breadcrumbs, log } = reporter.context
  if (!breadcrumbs.isEnabledFor('sql')) return () => {}
  const problem = describeUntracedVersion(['mysql2'])
  if (problem) log.warn(problem)
  const pending = new WeakMap<TracedQuery, PendingBreadcrumb>()
  const waitingTrails = new WeakMap<TracedQuery, Trail>()
  let grantedTrail: Trail | undefined

  const onStart = (trace: TracedQuery) => {
    if (isOwnQuery() || typeof trace.query !== 'string' || !hasRoomForBreadcrumb()) return
    const message = statementText(trace.query, 'mysql')
    const metadata = { system: 'mysql' }
    const crumb = startBreadcrumb(breadcrumbs, { category: 'sql', message, metadata }, grantedTrail)
    if (crumb) pending.set(trace, crumb)
  }
  const onEnd = (trace: TracedQuery) => {
    const crumb = pending.get(trace)
    if (crumb) endBreadcrumb(crumb, trace.error ? { error: errorCode(trace.error) } : rowCount(trace.result))
  }
  const tracingListeners = (name: string): Listeners => ({
    [`tracing:${name}:start`]: onStart,
    [`tracing:${name}:asyncStart`]: onEnd,
    [`tracing:${name}:error`]: onEnd,
  })
  return subscribeAll(reporter, {
    ...tracingListeners('mysql2:query'),
    ...tracingListeners('mysql2:execute'),
    // A waiting caller receives its pool connection in the async context of the caller that released it. Without this,
    // `pool.query` would add its breadcrumb to the wrong trail.
    'tracing:mysql2:pool:connect:start': (trace: TracedQuery) => {
      if (isOwnQuery()) return
      const trail = breadcrumbs.trail()
      waitingTrails.set(trace, trail)
      breadcrumbs.notifyConnecting(trail)
    },
    'tracing:mysql2:pool:connect:asyncStart': (trace: TracedQuery) => {
      grantedTrail = waitingTrails.get(trace)
    },
    'tracing:mysql2:pool:connect:asyncEnd': () => {
      grantedTrail = undefined
    },
  })
}

function rowCount(result: unknown): { rows: number } | undefined {
  if (Array.isArray(result)) return { rows: result.length }
  if (typeof result !== 'object' || result === null) return undefined
  const affectedRows = Object.getOwnPropertyDescriptor(result, 'affectedRows')?.value
  return typeof affectedRows === 'number' ? { rows: affectedRows } : undefined
}
