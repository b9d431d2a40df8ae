import { statementText } from '../../model/sql/statement-text.js'
import { isOwnQuery } from '../../store/dialects/own-queries.js'
import { hasRoomForBreadcrumb } from '../guards/stack-room.js'
import type { Source } from '../sources/source.js'
import { endBreadcrumb, errorCode, type PendingBreadcrumb, startBreadcrumb } from './pending-breadcrumb.js'
import { isSubmittable, runWatched } from './pg-outcome.js'
import { wrapMethod } from './wrap-method.js'

/** The `pg` package, or its `native` part. */
export interface PgModule {
  Client: { prototype: object }
  Pool?: { prototype: object } | undefined
}

/** Records the statements of pg. Wraps all forms of `query`, because pg has no diagnostics channels. */
export function pgQueries({ Client, Pool }: PgModule): Source {
  return ({ context: { breadcrumbs, counters } }) => {
    if (!breadcrumbs.isEnabledFor('sql')) return () => {}
    /** Breadcrumb of a `pool.query` that is waiting for a connection. */
    let requestedCrumb: PendingBreadcrumb | null = null
    let grantedCrumb: PendingBreadcrumb | null = null

    const startCrumb = (config: unknown): PendingBreadcrumb | null => {
      if (isOwnQuery() || !hasRoomForBreadcrumb()) return null
      try {
        const sql = sqlText(config)
        if (sql === null) return null
        const message = statementText(sql, 'postgres')
        return startBreadcrumb(breadcrumbs, { category: 'sql', message, metadata: { system: 'postgres' } })
      } catch {
        counters.add('failed: pg')
        return null
      }
    }

    const stops = [
      wrapMethod(Client.prototype, 'query', (query) => {
        return function (this: unknown, ...values: unknown[]) {
          const crumb = grantedCrumb ?? startCrumb(values[0])
          grantedCrumb = null
          return crumb
            ? runWatched(crumb, values, (args) => Reflect.apply(query, this, args))
            : Reflect.apply(query, this, values)
        }
      }),
    ]
    if (Pool) {
      stops.push(
        wrapMethod(Pool.prototype, 'query', (query) => {
          return function (this: unknown, ...values: unknown[]) {
            requestedCrumb = startCrumb(values[0])
            try {
              return Reflect.apply(query, this, values)
            } finally {
              requestedCrumb = null
            }
          }
        }),
        // A waiting caller receives its connection in the async context of the caller that released it. The
        // breadcrumb of `pool.query` therefore starts before the wait and is passed on explicitly.
        wrapMethod(Pool.prototype, 'connect', (connect) => {
          return function (this: unknown, ...values: unknown[]) {
            const crumb = requestedCrumb
            const [callback] = values
            requestedCrumb = null
            if (!crumb || typeof callback !== 'function') return Reflect.apply(connect, this, values)
            return Reflect.apply(connect, this, [
              function (this: unknown, ...callbackArgs: unknown[]) {
                if (callbackArgs[0]) endBreadcrumb(crumb, { error: errorCode(callbackArgs[0]) })
                else grantedCrumb = crumb
                try {
                  return Reflect.apply(callback, this, callbackArgs)
                } finally {
                  grantedCrumb = null
                }
              },
            ])
          }
        }),
      )
    }
    return () => {
      for (const end of stops.reverse()) end()
    }
  }
}

function sqlText(config: unknown): string | null {
  if (typeof config === 'string') return config
  if (typeof config !== 'object' || config === null) return null
  const { text, cursor } = config as { text?: unknown; cursor?: { text?: unknown } }
  const sql = text ?? cursor?.text
  return typeof sql === 'string' ? sql : isSubmittable(config) ? '(a query object)' : null
}
