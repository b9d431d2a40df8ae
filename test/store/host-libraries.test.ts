import { existsSync, readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { resolve } from 'node:path'
import { Kysely, MysqlDialect, PostgresDialect } from 'kysely'
import mysql from 'mysql2'
import pg from 'pg'
import { expect, test } from 'vitest'
import { TrackerInstance } from '../../src/tracker.js'
import { describeEachDatabase } from '../support/databases.js'

const guide = readFileSync('docs/getting-started.md', 'utf8')
const hosts = resolve('test/hosts/node_modules')
const load = createRequire(resolve('test/hosts/package.json'))

/** Instance of the library in a host, and the variables of the host that the expression uses. */
interface Host {
  instance: unknown
  names: Record<string, unknown>
  close?(): unknown
}

interface Library {
  name: string
  module?: string
  postgres: string
  mysql: string
  open(url: string): Host | Promise<Host>
}

const LIBRARIES: Library[] = [
  {
    ...{ name: 'Kysely', postgres: 'pool', mysql: 'pool' },
    open(url) {
      const pool = isPostgres(url) ? new pg.Pool({ connectionString: url }) : mysql.createPool(url)
      const dialect = isPostgres(url)
        ? new PostgresDialect({ pool: pool as pg.Pool })
        : new MysqlDialect({ pool: pool as never })
      return { instance: new Kysely({ dialect }), names: { pool } }
    },
  },
  {
    ...{ name: 'Drizzle', module: 'drizzle-orm', postgres: 'db.$client', mysql: 'db.$client' },
    open(url) {
      const { drizzle } = load(`drizzle-orm/${isPostgres(url) ? 'node-postgres' : 'mysql2'}`)
      const db = drizzle(url)
      return { instance: db, names: { db } }
    },
  },
  {
    ...{ name: 'Knex', module: 'knex' },
    postgres: 'new pg.Pool(knex.client.connectionSettings)',
    mysql: 'mysql.createPool(knex.client.connectionSettings)',
    open(url) {
      const knex = load('knex')({ client: isPostgres(url) ? 'pg' : 'mysql2', connection: url })
      return { instance: knex, names: { knex, pg, mysql }, close: () => knex.destroy() }
    },
  },
  {
    ...{ name: 'Sequelize', module: 'sequelize' },
    postgres: 'new pg.Pool({ host, port, user: username, password, database })',
    mysql: 'mysql.createPool({ host, port, user: username, password, database })',
    open(url) {
      const sequelize = new (load('sequelize').Sequelize)(url, { logging: false })
      return { instance: sequelize, names: { pg, mysql, ...sequelize.config }, close: () => sequelize.close() }
    },
  },
  {
    ...{ name: 'TypeORM', module: 'typeorm', postgres: 'dataSource.driver.master', mysql: 'dataSource.driver.pool' },
    async open(url) {
      const dataSource = new (load('typeorm').DataSource)({ type: isPostgres(url) ? 'postgres' : 'mysql', url })
      await dataSource.initialize()
      return { instance: dataSource, names: { dataSource }, close: () => dataSource.destroy() }
    },
  },
]

describeEachDatabase(
  'the connection of a query builder',
  (database) => {
    for (const library of LIBRARIES) {
      const { name, module, open } = library
      const missing =
        module === undefined || existsSync(`${hosts}/${module}`)
          ? ''
          : ` (skipped: ${module} is not installed in test/hosts)`
      test.skipIf(missing !== '')(`${name} users can pass the documented expression${missing}`, async () => {
        const { instance, names, close } = await open(await database.fresh())
        const expression = library[database.dialect as 'postgres' | 'mysql']
        expect(guide).toContain(`\`${expression}\``)
        const start = (value: unknown) => new TrackerInstance({ database: value as object }, { env: {} }).start()
        expect(() => start(instance)).toThrow(`must not be a ${name} instance: pass `)
        expect(() => start(instance)).toThrow(expression)
        const pool = new Function(...Object.keys(names), `return ${expression}`)(...Object.values(names))
        const tracker = start(pool)
        await tracker.report(new Error('No such order'))
        expect(await tracker.Queries.ErrorsList.call()).toMatchObject([{ message: 'No such order' }])
        await tracker.shutdown()
        await close?.()
        if (!pool.ended && !pool._closed) await pool.end()
      })
    }
  },
  { except: ['sqlite'] },
)

function isPostgres(url: string): boolean {
  return url.startsWith('postgres')
}
