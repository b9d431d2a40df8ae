import mysql from 'mysql2'
import mysqlPromise from 'mysql2/promise'
import pg from 'pg'
import { describe, expect, onTestFinished, test } from 'vitest'
import { poolState, poolsSection, type RegisteredPools, registerPool } from '../../../src/diagnostics/dumps/pools.js'
import { createRedactor } from '../../../src/model/redaction/redaction.js'
import { describeEachDatabase } from '../../support/databases.js'
import { runningContext } from '../running.js'

const redactor = createRedactor()

describe('the pool state', () => {
  test('reads the public counters of pg', () => {
    const pool = new pg.Pool({ connectionString: 'postgres://ada:hunter2@127.0.0.1:1/x', max: 7 })
    onTestFinished(() => pool.end())
    expect(poolState(pool)).toEqual({ kind: 'pg', total: 0, idle: 0, in_use: 0, waiting: 0, max: 7 })
  })

  test('reads callback and promise pools of mysql2', async () => {
    const options = { host: '127.0.0.1', port: 1, password: 'hunter2', connectionLimit: 3 }
    const pools = [mysql.createPool(options), mysqlPromise.createPool(options)]
    for (const pool of pools) {
      expect(poolState(pool)).toEqual({ kind: 'mysql2', total: 0, idle: 0, in_use: 0, waiting: 0, max: 3 })
      pool.end()
    }
  })

  test.each([
    [
      'knex',
      Object.assign(() => {}, {
        client: { pool: { numUsed: () => 3, numFree: () => 1, numPendingAcquires: () => 5, max: 4 } },
      }),
      { kind: 'tarn', total: 4, idle: 1, in_use: 3, waiting: 5, max: 4 },
    ],
    [
      'generic-pool',
      { size: 4, available: 1, borrowed: 3, pending: 2, max: 8 },
      { kind: 'generic-pool', total: 4, idle: 1, in_use: 3, waiting: 2, max: 8 },
    ],
    [
      'Sequelize',
      { connectionManager: { pool: { size: 4, available: 1, using: 3, waiting: 2, maxSize: 5 } } },
      { kind: 'sequelize', total: 4, idle: 1, in_use: 3, waiting: 2, max: 5 },
    ],
    [
      'undici',
      { stats: { connected: 4, free: 1, pending: 2, queued: 0, running: 3, size: 5 } },
      { kind: 'undici', total: 4, idle: 1, in_use: 3, waiting: 2, max: null },
    ],
  ])('reads a pool of %s', (_name, pool, state) => {
    expect(poolState(pool)).toEqual(state)
  })

  test.each([
    ['no properties', {}],
    ['strings instead of numbers', { totalCount: 'hunter2', idleCount: 'hunter2' }],
    ['NaN counters', { totalCount: Number.NaN, idleCount: 1 }],
    [
      'getters that throw',
      Object.defineProperty({}, 'totalCount', {
        get() {
          throw new Error('hunter2')
        },
      }),
    ],
  ])('the pool state is null for an object with %s', (_name, pool) => {
    expect(poolState(pool)).toBeNull()
  })
})

describe('registering a pool', () => {
  test('ignores values that are not objects', () => {
    const pools: RegisteredPools = new Map()
    for (const value of [null, undefined, 7, 'pool', Symbol('x')]) registerPool(pools, 'x', value)
    expect(pools.size).toBe(0)
  })

  test('limits the number of pools and replaces a pool of the same name', () => {
    const pools: RegisteredPools = new Map()
    const candidates = Array.from({ length: 80 }, (_, i) => ({ size: i, borrowed: 0 }))
    for (const [i, pool] of candidates.entries()) registerPool(pools, `pool ${i}`, pool)
    expect(pools.size).toBe(50)
    const other = { size: 99, borrowed: 9 }
    registerPool(pools, 'pool 3', other)
    expect(poolsSection(pools, null, redactor)['pool 3']).toMatchObject({ total: 99 })
  })

  test('redacts a secret in the name', () => {
    const pools: RegisteredPools = new Map()
    const pool = { size: 1, borrowed: 0 }
    registerPool(pools, 'postgres://ada:hunter2@db/shop', pool)
    expect(JSON.stringify(poolsSection(pools, null, redactor))).not.toContain('hunter2')
  })
})

describeEachDatabase(
  "the tracker's own pool",
  (database) => {
    test("the tracker's own pool is included automatically", async () => {
      const { database: own } = await runningContext(database)
      const state = poolsSection(new Map(), own.dialect.pool?.(), redactor)
      expect(state).toMatchObject({ faultboard: { kind: database.dialect === 'postgres' ? 'pg' : 'mysql2', max: 4 } })
    })
  },
  { except: ['sqlite'] },
)
