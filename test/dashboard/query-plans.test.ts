import { DatabaseSync } from '@photostructure/sqlite'
import { createConnection } from 'mysql2/promise'
import pg from 'pg'
import { afterAll, beforeAll, expect, test } from 'vitest'
// @ts-expect-error: the benchmark has no types.
import { buildDataset, END } from '../../bench/pages/dataset.mjs'
// @ts-expect-error: the benchmark has no types.
import { trace, tracedMysql, tracedPostgres, tracedSqlite } from '../../bench/pages/traced.mjs'
import { TrackerInstance } from '../../src/tracker.js'
import { type Dialect, describeEachDatabase } from '../support/databases.js'
import { CREDENTIALS, temporaryFolder, withDatabase } from '../support/tracker.js'

const ERRORS = 150
const OCCURRENCES = 1500
const ROWS_PER_INSERT = 100

/** Tag of every second error. Has more rows than a filter collects. */
const COMMON_TAG = 'session'
const COMMON_TAG_ROWS = 10_500

/** Tables with many rows per error. */
const LARGE_TABLES = [
  ...['occurrences', 'payloads', 'error_hours', 'error_users', 'error_tags', 'error_versions', 'error_origins'],
  ...['error_features', 'error_search', 'search_history', 'type_hours'],
].map((name) => `faultboard_${name}`)

const COMMON_TAG_FILTERS = ['tag=session', 'query=-tag:session', 'query=tag:session=s-*']
const LISTS = [
  ...['tag=region:region-1', 'tag=tenant', 'tag=region:region-1&tag=component:component-6', 'user_id=user-42'],
  ...['query=tag:region=region-1', 'query=-tag:region=region-1', 'query=environment:staging', 'app_version=3.9.0'],
  ...['query=tag:region=region-*', 'query=-tag:tenant', 'tag=region:unknown', 'query=tag:reg*'],
  ...COMMON_TAG_FILTERS,
  ...['platform=iOS', 'day=2026-06-10', 'git_sha=0123456789'],
].map((filter) => `/errors?${filter}`)
const SCOPED_PAGES = [
  ...['/errors', '/overview', '/releases', '/health'],
  ...['/errors/analytics', '/errors/platform_comparison', '/errors/correlation'],
].flatMap((path) => [path, `${path}?environment=staging`, `${path}?application_id=1`])
const SUGGESTIONS = ['/errors/tags?start=te', '/errors/tags?start=tenant=']
const scoped = (paths: readonly string[]) =>
  paths.flatMap((path) => [
    ...[`${path}&environment=staging`, `${path}&application_id=1`, `${path}&application_id=1&environment=staging`],
  ])
const PATHS = [
  ...LISTS,
  ...LISTS.filter((path) => path.includes('tag')).map((path) => `${path}&environment=staging`),
  ...SCOPED_PAGES,
  ...['/errors/1', '/errors/140', ...SUGGESTIONS, ...scoped(SUGGESTIONS)],
]

interface Statement {
  sql: string
  values: unknown[]
}

describeEachDatabase('query plans', (database) => {
  let url: string
  let explain: Explain
  beforeAll(async () => {
    url = await database.fresh()
    await fill(url)
    explain = await EXPLAIN[database.dialect](url)
  }, 120_000)
  afterAll(() => explain.close())

  test('no page reads a whole table with many rows per error', async () => {
    const { statements } = await visitPages(database.dialect, url, PATHS)
    const scans = new Set<string>()
    for (const statement of statements.values())
      for (const name of await explain.scannedTables(statement))
        if (LARGE_TABLES.includes(tableName(statement.sql, name))) scans.add(`${name}: ${statement.sql}`)
    expect(statements.size).toBeGreaterThan(100)
    expect([...scans]).toEqual([])
  }, 120_000)

  // SQLite sorts this few rows.
  test.skipIf(database.dialect === 'sqlite')('the newest errors are read in the order of an index', async () => {
    const { statements } = await visitPages(database.dialect, url, ['/errors', '/errors?application_id=1'])
    const ordered = [...statements.values()].filter(({ sql }) =>
      / order by .*occurred_at. desc, .*id. desc limit/.test(sql),
    )
    expect(ordered).toHaveLength(2)
    for (const statement of ordered) expect(await explain.sortsRows(statement), statement.sql).toBe(false)
  })

  if (database.dialect === 'sqlite')
    test('daily sums are grouped in the order of the primary key', async () => {
      const { statements } = await visitPages('sqlite', url, ['/overview', '/overview?environment=staging'])
      const sums = [...statements.values()].flatMap(({ sql, values }) => {
        const [, grouped] =
          /\((select [^()]*sum\("count"\).* group by "application_id", "day"(?:, "severity")?)\)/.exec(sql) ?? []
        return grouped?.includes('faultboard_application_days') ? [{ sql: grouped, values }] : []
      })
      expect(sums.length).toBeGreaterThan(0)
      for (const statement of sums) expect(await explain.sortsRows(statement), statement.sql).toBe(false)
    })

  test('a common tag is looked up in a statement that stops early, and collected for a sort on a server', async () => {
    const paths = COMMON_TAG_FILTERS.map((filter) => `/errors?${filter}`)
    const { statements, bodies } = await visitPages(database.dialect, url, paths)
    for (const body of bodies) expect(JSON.parse(body).pagination.total_count).toBe(ERRORS / 2)
    const filtered = [...statements.values()].filter(({ sql }) => /faultboard_errors.*faultboard_error_tags/s.test(sql))
    const counts = filtered.filter(({ sql }) => / group by .status./.test(sql))
    const pages = filtered.filter(({ sql }) => / order by /.test(sql))
    expect([counts.length, pages.length]).toEqual([COMMON_TAG_FILTERS.length, COMMON_TAG_FILTERS.length])
    for (const statement of pages) expect(await explain.usesTagLookups(statement), statement.sql).toBe(true)
    const isServer = database.dialect !== 'sqlite'
    for (const { sql } of counts) expect(/ limit [?$]/.test(sql), sql).toBe(isServer)
    const { statements: sorted } = await visitPages(database.dialect, url, [
      '/errors?tag=session&sort_by=occurrence_count',
    ])
    const [byCount] = [...sorted.values()].filter(({ sql }) => /faultboard_error_tags.* order by /s.test(sql))
    expect(byCount?.sql.includes('in (\n      select distinct'), byCount?.sql).toBe(isServer)
  }, 120_000)

  test('a server looks up tags for a page that stops early, and sorts the errors of a page with few', async () => {
    const { statements } = await visitPages(database.dialect, url, [
      '/errors?query=-tag:region=region-1&per_page=1',
      '/errors?severity=critical&per_page=100',
    ])
    const pages = [...statements.values()].filter(({ sql }) => / order by /.test(sql))
    const [tagged, sorted] = ['faultboard_error_tags', 'severity'].map((text) =>
      pages.find(({ sql }) => sql.includes(text) && sql.includes('occurred_at')),
    )
    const isServer = database.dialect !== 'sqlite'
    expect(tagged && (await explain.usesTagLookups(tagged)), tagged?.sql).toBe(isServer)
    // PostgreSQL chooses between both plans itself.
    if (database.dialect !== 'postgres') expect(sorted && (await explain.sortsRows(sorted)), sorted?.sql).toBe(true)
    const counts = [...statements.values()].filter(({ sql }) => /severity.*group by .status./s.test(sql))
    expect(counts.map(({ sql }) => sql.includes('coalesce('))).toEqual([database.dialect === 'mysql'])
  }, 120_000)

  test('errors that match a common tag pattern are counted up to 1,000', async () => {
    await withDatabase(url, ({ read, write }) =>
      write(async (trx) => {
        const error = await read
          .selectFrom('faultboard_errors')
          .selectAll()
          .where('id', '=', 1)
          .executeTakeFirstOrThrow()
        for (let from = 0; from < 1000; from += ROWS_PER_INSERT) {
          const ids = Array.from({ length: ROWS_PER_INSERT }, (_, i) => ERRORS + 1 + from + i)
          const errors = ids.map((id) => ({ ...error, id, hash_signature: String(id).padStart(64, '0') }))
          await trx.insertInto('faultboard_errors').values(errors).execute()
          const tags = ids.map((error_id) => ({ error_id, tag_key: COMMON_TAG, tag_value: 's-1' }))
          await trx.insertInto('faultboard_error_tags').values(tags).execute()
        }
      }),
    )
    const { bodies } = await visitPages(database.dialect, url, ['/errors?tag=session', '/errors?query=tag:session=s-*'])
    const totals = bodies.map((body) => JSON.parse(body).pagination)
    const expected = expect.objectContaining({ total_count: 1000, total_is_lower_bound: true })
    expect(totals).toEqual([expected, expected])
  }, 120_000)
})

/** Fills a database with a small data set of the benchmark. */
async function fill(url: string): Promise<void> {
  const rows = new Map<string, object[]>()
  await buildDataset(
    OCCURRENCES,
    async (table: string, row: object) => void rows.set(table, [...(rows.get(table) ?? []), row]),
    ERRORS,
  )
  const tags = rows.get('faultboard_error_tags') ?? []
  for (let i = 0; i < COMMON_TAG_ROWS; i++)
    tags.push({ error_id: 2 * (1 + (i % (ERRORS / 2))), tag_key: COMMON_TAG, tag_value: `s-${i}` })
  await withDatabase(url, ({ write }) =>
    write(async (trx) => {
      for (const [table, all] of rows)
        for (let from = 0; from < all.length; from += ROWS_PER_INSERT)
          await trx
            .insertInto(table as never)
            .values(all.slice(from, from + ROWS_PER_INSERT) as never)
            .execute()
    }),
  )
}

/** Distinct statements of the pages, and their responses. */
async function visitPages(
  dialect: Dialect,
  url: string,
  paths: readonly string[],
): Promise<{ statements: Map<string, Statement>; bodies: string[] }> {
  const database = await TRACED[dialect](url)
  const statements = new Map<string, Statement>()
  const bodies: string[] = []
  const tracker = new TrackerInstance(
    { database, application_name: 'bench', spool_path: temporaryFolder(), ...CREDENTIALS },
    { now: () => END, env: {}, write() {}, announcesDashboard: false },
  )
  await tracker.ready()
  const authorization = `Basic ${btoa(Object.values(CREDENTIALS).join(':'))}`
  for (const path of paths) {
    const address = new URL(`http://localhost${path}`)
    const request = new Request(address, { headers: { authorization, accept: 'application/json' } })
    const response = await tracker.handle(request, { base: '', path: address.pathname, remote_address: null })
    expect([path, response.status]).toEqual([path, 200])
    bodies.push(await response.text())
    for (const statement of trace.statements.splice(0))
      if (/^\s*select/i.test(statement.sql)) statements.set(statement.sql, statement)
  }
  await tracker.shutdown()
  await database.end?.()
  return { statements, bodies }
}

const sqliteFile = (url: string) => url.slice('sqlite:'.length)

const TRACED: Record<Dialect, (url: string) => Promise<{ end?(): Promise<void> }>> = {
  sqlite: (url) => tracedSqlite(sqliteFile(url)),
  postgres: async (url) => tracedPostgres(url),
  mysql: async (url) => tracedMysql(url),
}

interface Explain {
  /** Tables or aliases that the plan reads completely, even in the order of an index. */
  scannedTables(statement: Statement): Promise<string[]>
  /** Returns true if the plan finds the rows of `tags` by the id of an error. */
  usesTagLookups(statement: Statement): Promise<boolean>
  /** True if the plan sorts rows instead of reading them in the order of an index. */
  sortsRows(statement: Statement): Promise<boolean>
  close(): unknown
}

const EXPLAIN: Record<Dialect, (url: string) => Promise<Explain>> = {
  async sqlite(url) {
    const db = new DatabaseSync(sqliteFile(url))
    return {
      async scannedTables({ sql }) {
        const steps = db.prepare(`explain query plan ${sql}`).all() as { detail: string }[]
        return steps.flatMap(({ detail }) => /^SCAN (\w+)/.exec(detail)?.[1] ?? [])
      },
      async usesTagLookups({ sql }) {
        const steps = db.prepare(`explain query plan ${sql}`).all() as { detail: string }[]
        return steps.some(({ detail }) => /^SEARCH tags .*\(error_id=\?/.test(detail))
      },
      async sortsRows({ sql }) {
        const steps = db.prepare(`explain query plan ${sql}`).all() as { detail: string }[]
        return steps.some(({ detail }) => detail.startsWith('USE TEMP B-TREE'))
      },
      close: () => db.close(),
    }
  },
  async postgres(url) {
    const client = new pg.Client({ connectionString: url })
    await client.connect()
    await client.query('analyze')
    // Otherwise, every plan for a small table reads the whole table.
    await client.query('set enable_seqscan = off')
    return {
      async scannedTables({ sql, values }) {
        const { rows } = await client.query(`explain (format json) ${sql}`, values)
        return fullScans(rows[0]['QUERY PLAN'][0].Plan)
      },
      async usesTagLookups({ sql, values }) {
        const { rows } = await client.query(`explain ${sql}`, values)
        const plan = rows.map((row) => row['QUERY PLAN']).join('\n')
        return /Scan using \w+ on faultboard_error_tags tags .*\n +Index Cond: .*error_id = faultboard_errors\.id/.test(
          plan,
        )
      },
      async sortsRows({ sql, values }) {
        const { rows } = await client.query(`explain ${sql}`, values)
        return rows.some((row) => row['QUERY PLAN'].includes('Sort Key'))
      },
      close: () => client.end(),
    }
  },
  async mysql(url) {
    const connection = await createConnection(url)
    // Otherwise, every plan for a small table reads the whole table.
    await connection.query(
      `update mysql.innodb_table_stats set n_rows = 1000000, clustered_index_size = 50000
       where database_name = database() and table_name in (?)`,
      [LARGE_TABLES],
    )
    // Flushing all tables would wait for other tests.
    await connection.query(`flush tables ${LARGE_TABLES}`)
    return {
      async scannedTables({ sql, values }) {
        const [rows] = await connection.query(`explain ${sql}`, values)
        return (
          (rows as { table: string; type: string }[])
            // A few rows are sorted by reading the index of the group instead.
            .filter(({ type }) => type === 'ALL' || (type === 'index' && !/ group by /.test(sql)))
            .map(({ table }) => table)
        )
      },
      async usesTagLookups({ sql, values }) {
        const [rows] = await connection.query(`explain ${sql}`, values)
        return (rows as { table: string; ref: string | null }[]).some(
          ({ table, ref }) => table === 'tags' && ref?.includes('faultboard_errors.id'),
        )
      },
      async sortsRows({ sql, values }) {
        const [rows] = await connection.query(`explain ${sql}`, values)
        return (rows as { Extra: string }[]).some(({ Extra }) => Extra.includes('filesort'))
      },
      close: () => connection.end(),
    }
  },
}

interface PlanNode {
  'Node Type': string
  Alias?: string
  'Index Cond'?: string
  Plans?: PlanNode[]
}

/** A scan of an index without a condition reads the whole index. */
function fullScans(node: PlanNode): string[] {
  const isFull =
    node['Node Type'] === 'Seq Scan' || (/^Index (Only )?Scan/.test(node['Node Type']) && !node['Index Cond'])
  return [...(isFull && node.Alias ? [node.Alias] : []), ...(node.Plans ?? []).flatMap(fullScans)]
}

/** Table of an alias in a statement. The alias of a subquery has no table. */
function tableName(sql: string, alias: string): string {
  if (new RegExp(`\\) as ["\`]${alias}["\`]`).test(sql)) return alias
  return new RegExp(`(faultboard_\\w+)["\`]? (as )?["\`]?${alias}["\`]?(?!\\w)`).exec(sql)?.[1] ?? alias
}
