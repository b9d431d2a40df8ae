import type { Redactor } from '../../model/redaction/redaction.js'
import type { TrackerAccess } from '../define.js'

/** Pools by their registered names. Weak references, so that a pool can be garbage collected. */
export type RegisteredPools = Map<string, WeakRef<object>>

export interface PoolApi {
  /**
   * Registers a connection pool whose usage dumps show: pg, mysql2, knex, Sequelize, generic-pool or undici. Can be
   * called before `configure`. Reads only numbers from the pool.
   *
   * @example
   * Tracker.registerPool('orders', new pg.Pool())
   */
  registerPool(name: string, pool: object): void
}

/** State of a pool. Contains only numbers, because pool options contain addresses and passwords. */
export interface PoolState {
  kind: string
  total: number | null
  idle: number | null
  in_use: number | null
  waiting: number | null
  max: number | null
}

const MAX_POOLS = 50
const MAX_NAME_LENGTH = 100

const poolsByTracker = new WeakMap<object, RegisteredPools>()

/** Keeps the pools per tracker and not per context, because a restarted tracker has a new context. */
export function poolApi({ owner }: TrackerAccess): PoolApi {
  const pools: RegisteredPools = new Map()
  poolsByTracker.set(owner, pools)
  return { registerPool: (name, pool) => registerPool(pools, name, pool) }
}

/** Pools of the tracker with this `context.owner`. Empty for a context that no tracker created. */
export function registeredPools(owner: object | undefined): RegisteredPools {
  return (owner && poolsByTracker.get(owner)) ?? new Map()
}

/** Registers a pool. Ignores values that are not objects, because the host must not fail. */
export function registerPool(pools: RegisteredPools, name: unknown, pool: unknown): void {
  if ((typeof pool !== 'object' && typeof pool !== 'function') || pool === null) return
  for (const [existing, reference] of pools) if (reference.deref() === undefined) pools.delete(existing)
  const key = String(name).slice(0, MAX_NAME_LENGTH)
  if (pools.size < MAX_POOLS || pools.has(key)) pools.set(key, new WeakRef(pool))
}

/** Returns the state of each registered pool, or null for a pool of an unknown kind. */
export function poolsSection(
  pools: ReadonlyMap<string, WeakRef<object>>,
  ownPool: object | null | undefined,
  redactor: Redactor,
) {
  const registered = [...pools].map(([name, reference]) => [name, reference.deref()] as const)
  const named = ownPool ? [...registered, ['faultboard', ownPool] as const] : registered
  return Object.fromEntries(
    named.flatMap(([name, pool]) => (pool === undefined ? [] : [[redactor.text(name), poolState(pool)] as const])),
  )
}

/**
 * Reads the state of a pool of pg, mysql2, knex, Sequelize, generic-pool or undici.
 *
 * @example
 * poolState(new pg.Pool({ max: 10 })) // { kind: 'pg', total: 0, idle: 0, in_use: 0, waiting: 0, max: 10 }
 */
export function poolState(pool: object): PoolState | null {
  for (const read of POOL_READERS) {
    try {
      const state = read(pool)
      if (state) return state
    } catch {
      // The pool is closed or of another kind.
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

/** mysql2 has no public counters. The pool of mysql2/promise wraps the callback pool. */
const mysql2: ReadPool = (candidate) => {
  const pool = '_allConnections' in candidate ? candidate : valueAt(candidate, 'pool')
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

/** Handles tarn pools and knex, which uses tarn. */
const tarn: ReadPool = (candidate) => {
  const pool = valueAt(candidate, 'client', 'pool') ?? candidate
  const in_use = numberFrom(pool, 'numUsed')
  const idle = numberFrom(pool, 'numFree')
  if (in_use === null || idle === null) return null
  const waiting = numberFrom(pool, 'numPendingAcquires')
  return { kind: 'tarn', total: in_use + idle, idle, in_use, waiting, max: numberAt(pool, 'max') }
}

const genericPool: ReadPool = (pool) => {
  const total = numberAt(pool, 'size')
  const in_use = numberAt(pool, 'borrowed')
  if (total === null || in_use === null) return null
  const idle = numberAt(pool, 'available')
  return { kind: 'generic-pool', total, idle, in_use, waiting: numberAt(pool, 'pending'), max: numberAt(pool, 'max') }
}

const sequelize: ReadPool = (candidate) => {
  const pool = valueAt(candidate, 'connectionManager', 'pool') ?? candidate
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

const POOL_READERS: readonly ReadPool[] = [pg, mysql2, tarn, genericPool, sequelize, undici]

function valueAt(value: unknown, ...path: string[]): unknown {
  let found = value
  for (const name of path) {
    if ((typeof found !== 'object' && typeof found !== 'function') || found === null) return undefined
    found = Reflect.get(found, name)
  }
  return found
}

function numberAt(value: unknown, ...path: string[]): number | null {
  const found = valueAt(value, ...path)
  return typeof found === 'number' && Number.isFinite(found) ? found : null
}

function numberFrom(value: unknown, method: string): number | null {
  const found = valueAt(value, method)
  const result = typeof found === 'function' ? found.call(value) : null
  return typeof result === 'number' ? result : null
}
