import type { Redactor } from '../../model/redaction/redaction.js'

/** Pools by the names under which the host made them known; a pool that is gone is forgotten. */
export type KnownPools = Map<string, WeakRef<object>>

/** What is told of a pool: numbers only, because its options hold addresses and passwords. */
export interface PoolState {
  kind: string
  total: number | null
  idle: number | null
  in_use: number | null
  waiting: number | null
  max: number | null
}

const MAX_POOLS = 50
const NAME_LIMIT = 100

/** Remembers a pool weakly. What is no object is not remembered: the host must not fail for it. */
export function rememberPool(pools: KnownPools, name: unknown, pool: unknown): void {
  if ((typeof pool !== 'object' && typeof pool !== 'function') || pool === null) return
  for (const [known, reference] of pools) if (reference.deref() === undefined) pools.delete(known)
  const key = String(name).slice(0, NAME_LIMIT)
  if (pools.size < MAX_POOLS || pools.has(key)) pools.set(key, new WeakRef(pool))
}

/** The state of every pool that is known; null where it is of a kind that nobody knows. */
export function poolsSection(
  pools: ReadonlyMap<string, WeakRef<object>>,
  own: object | null | undefined,
  redactor: Redactor,
) {
  const all = [...pools].map(([name, reference]) => [name, reference.deref()] as const)
  const named = own ? [...all, ['faultboard', own] as const] : all
  return Object.fromEntries(
    named.flatMap(([name, pool]) => (pool === undefined ? [] : [[redactor.text(name), poolState(pool)] as const])),
  )
}

/**
 * How a pool of pg, mysql2, knex, Sequelize, generic-pool or undici is doing, by its own public numbers.
 *
 * @example
 * poolState(new pg.Pool({ max: 10 })) // { kind: 'pg', total: 0, idle: 0, in_use: 0, waiting: 0, max: 10 }
 */
export function poolState(pool: object): PoolState | null {
  for (const read of KINDS) {
    try {
      const state = read(pool)
      if (state) return state
    } catch {
      // A pool that is closed, or only looks like one, tells nothing.
    }
  }
  return null
}

type ReadPool = (pool: object) => PoolState | null

const pg: ReadPool = (pool) => {
  const total = numberAt(pool, 'totalCount')
  const idle = numberAt(pool, 'idleCount')
  if (total === null || idle === null) return null
  const max = numberAt(pool, 'options', 'max')
  return { kind: 'pg', total, idle, in_use: total - idle, waiting: numberAt(pool, 'waitingCount'), max }
}

/** The numbers of mysql2 stand in fields of its own; the pool of mysql2/promise is a wrapper around the other. */
const mysql2: ReadPool = (given) => {
  const pool = '_allConnections' in given ? given : at(given, 'pool')
  const total = numberAt(pool, '_allConnections', 'length')
  const idle = numberAt(pool, '_freeConnections', 'length')
  if (total === null || idle === null) return null
  const waiting = numberAt(pool, '_connectionQueue', 'length')
  return {
    kind: 'mysql2',
    total,
    idle,
    in_use: total - idle,
    waiting,
    max: numberAt(pool, 'config', 'connectionLimit'),
  }
}

/** The pool behind knex, which is tarn, or tarn itself. */
const tarn: ReadPool = (given) => {
  const pool = at(given, 'client', 'pool') ?? given
  const in_use = called(pool, 'numUsed')
  const idle = called(pool, 'numFree')
  if (in_use === null || idle === null) return null
  const waiting = called(pool, 'numPendingAcquires')
  return { kind: 'tarn', total: in_use + idle, idle, in_use, waiting, max: numberAt(pool, 'max') }
}

const genericPool: ReadPool = (pool) => {
  const total = numberAt(pool, 'size')
  const in_use = numberAt(pool, 'borrowed')
  if (total === null || in_use === null) return null
  const idle = numberAt(pool, 'available')
  return { kind: 'generic-pool', total, idle, in_use, waiting: numberAt(pool, 'pending'), max: numberAt(pool, 'max') }
}

const sequelize: ReadPool = (given) => {
  const pool = at(given, 'connectionManager', 'pool') ?? given
  const total = numberAt(pool, 'size')
  const in_use = numberAt(pool, 'using')
  if (total === null || in_use === null) return null
  const max = numberAt(pool, 'maxSize')
  return {
    kind: 'sequelize',
    total,
    idle: numberAt(pool, 'available'),
    in_use,
    waiting: numberAt(pool, 'waiting'),
    max,
  }
}

const undici: ReadPool = (pool) => {
  const total = numberAt(pool, 'stats', 'connected')
  const in_use = numberAt(pool, 'stats', 'running')
  if (total === null || in_use === null) return null
  const waiting = numberAt(pool, 'stats', 'pending')
  return { kind: 'undici', total, idle: numberAt(pool, 'stats', 'free'), in_use, waiting, max: null }
}

const KINDS: readonly ReadPool[] = [pg, mysql2, tarn, genericPool, sequelize, undici]

function at(value: unknown, ...path: string[]): unknown {
  let found = value
  for (const name of path) {
    if ((typeof found !== 'object' && typeof found !== 'function') || found === null) return undefined
    found = Reflect.get(found, name)
  }
  return found
}

function numberAt(value: unknown, ...path: string[]): number | null {
  const found = at(value, ...path)
  return typeof found === 'number' && Number.isFinite(found) ? found : null
}

function called(value: unknown, method: string): number | null {
  const found = at(value, method)
  const result = typeof found === 'function' ? found.call(value) : null
  return typeof result === 'number' ? result : null
}
