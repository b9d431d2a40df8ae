import { statementText } from '../../model/statement-text.js'
import { isOwnQuery } from '../../store/dialects/own-queries.js'
import { hasRoomToNote } from '../guards/stack-room.js'
import type { Source } from '../sources/source.js'
import { beginStep, codeOf, endStep, type PendingStep } from './pending-step.js'
import { isSubmittable, watched } from './pg-outcome.js'
import { wrapMethod } from './wrap-method.js'

/** The `pg` package, or its `native` part. */
export interface PgModule {
  Client: { prototype: object }
  Pool?: { prototype: object } | undefined
}

/** Statements of pg, which has no channels: wraps all forms of `query`. */
export function pgQueries({ Client, Pool }: PgModule): Source {
  return ({ context: { breadcrumbs, counters } }) => {
    if (!breadcrumbs.keeps('sql')) return () => {}
    /** Step of a `pool.query` while it waits for and receives a connection. */
    let asking: PendingStep | null = null
    let granted: PendingStep | null = null

    const begin = (config: unknown): PendingStep | null => {
      if (isOwnQuery() || !hasRoomToNote()) return null
      try {
        const sql = sqlOf(config)
        if (sql === null) return null
        const message = statementText(sql, 'postgres')
        return beginStep(breadcrumbs, { category: 'sql', message, metadata: { system: 'postgres' } })
      } catch {
        counters.add('failed: pg')
        return null
      }
    }

    const ends = [
      wrapMethod(Client.prototype, 'query', (query) => {
        return function (this: unknown, ...values: unknown[]) {
          const step = granted ?? begin(values[0])
          granted = null
          return step
            ? watched(step, values, (all) => Reflect.apply(query, this, all))
            : Reflect.apply(query, this, values)
        }
      }),
    ]
    if (Pool) {
      ends.push(
        wrapMethod(Pool.prototype, 'query', (query) => {
          return function (this: unknown, ...values: unknown[]) {
            asking = begin(values[0])
            try {
              return Reflect.apply(query, this, values)
            } finally {
              asking = null
            }
          }
        }),
        // A waiting caller receives its connection in the async context of the caller that released it. The step of
        // `pool.query` therefore starts earlier and is passed on explicitly.
        wrapMethod(Pool.prototype, 'connect', (connect) => {
          return function (this: unknown, ...values: unknown[]) {
            const step = asking
            const [callback] = values
            asking = null
            if (!step || typeof callback !== 'function') return Reflect.apply(connect, this, values)
            return Reflect.apply(connect, this, [
              function (this: unknown, ...answer: unknown[]) {
                if (answer[0]) endStep(step, { error: codeOf(answer[0]) })
                else granted = step
                try {
                  return Reflect.apply(callback, this, answer)
                } finally {
                  granted = null
                }
              },
            ])
          }
        }),
      )
    }
    return () => {
      for (const end of ends.reverse()) end()
    }
  }
}

function sqlOf(config: unknown): string | null {
  if (typeof config === 'string') return config
  if (typeof config !== 'object' || config === null) return null
  const { text, cursor } = config as { text?: unknown; cursor?: { text?: unknown } }
  const sql = text ?? cursor?.text
  return typeof sql === 'string' ? sql : isSubmittable(config) ? '(a query object)' : null
}
