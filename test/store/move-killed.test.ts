import { join } from 'node:path'
import { expect, test } from 'vitest'
import { sql } from '../../src/store/kysely.js'
import { TABLE_NAMES } from '../../src/store/schema.js'
import { RunningCommand, recordErrors, workingDirectory } from '../cli/faultboard.js'
import { describeEachDatabase } from '../support/databases.js'
import { verifiedCounts } from '../support/stored-counts.js'
import { eventually, withDatabase } from '../support/tracker.js'

/** One of the last tables, so that a move that waits for it has written most others. */
const LATE = 'faultboard_error_features'

describeEachDatabase(
  'a killed move to a target',
  (target) => {
    test('a killed move leaves nothing in the target and succeeds when it is run again', async () => {
      const cwd = await workingDirectory()
      const [from, to] = [`sqlite:${join(cwd, 'source.sqlite3')}`, await target.fresh()]
      await killedAndRunAgain({ cwd, from, to, held: to })
    }, 120_000)
  },
  { except: ['sqlite'] },
)

describeEachDatabase(
  'a killed move to SQLite from a source',
  (source) => {
    test('a killed move leaves nothing in the target and succeeds when it is run again', async () => {
      const cwd = await workingDirectory()
      const [from, to] = [await source.fresh(), `sqlite:${join(cwd, 'target.sqlite3')}`]
      await killedAndRunAgain({ cwd, from, to, held: from })
    }, 120_000)

    test('a move names the source when the connection to it is lost', async () => {
      const cwd = await workingDirectory()
      const from = await source.fresh()
      await whileHeld(from, true, async () => {
        const move = new RunningCommand(['move', '--from', from, '--to', 'sqlite:target.sqlite3'], { cwd })
        await eventually(() => isWaitedFor(from), 'the move waits for the table')
        await withDatabase(from, ({ read }) =>
          sql`select pg_terminate_backend(pid) from pg_locks where not granted and relation = ${sql.lit(LATE)}::regclass`.execute(
            read,
          ),
        )
        const { code, stdout, stderr } = await move.exited
        expect({ code, stdout }).toEqual({ code: 1, stdout: '' })
        expect(stderr).toMatch(/^Cannot read all of postgres:.*The target was rolled back\. Run the move again\.\n$/)
      })
    }, 120_000)
  },
  { except: ['sqlite', 'mysql'] },
)

interface Move {
  cwd: string
  from: string
  to: string
  /** Database whose table is locked until the move was killed. */
  held: string
}

async function killedAndRunAgain({ cwd, from, to, held }: Move): Promise<void> {
  if (from.startsWith('sqlite:')) await new RunningCommand(['migrate', '--database', from], { cwd }).exited
  await recordErrors(
    from,
    ...Array.from({ length: 30 }, (_, i) => ({ error_type: `Error ${'ab'.repeat(i)}`, message: 'x' })),
  )
  const before = await verifiedCounts(from)
  const move = () => new RunningCommand(['move', '--from', from, '--to', to, '--json'], { cwd })

  await whileHeld(held, held === from, async () => {
    const killed = move()
    await eventually(() => isWaitedFor(held), 'the move waits for the table')
    expect(await killed.stop('SIGKILL')).toMatchObject({ code: null, stdout: '' })
  })
  expect(await rowsIn(to)).toBe(0)

  const { code, stdout } = await move().exited
  expect({ code, ...JSON.parse(stdout) }).toMatchObject({ code: 0, verified: true, counted_since: 0 })
  expect(await verifiedCounts(to)).toEqual(before)
}

/** Locks a table against reads and writes. */
function whileHeld(url: string, from_readers: boolean, work: () => Promise<void>): Promise<void> {
  return withDatabase(url, ({ read, dialect }) =>
    read.connection().execute(async (connection) => {
      if (dialect.name === 'mysql') {
        await sql`lock tables ${sql.table(LATE)} read`.execute(connection)
        await work().finally(() => sql`unlock tables`.execute(connection))
        return
      }
      await connection.transaction().execute(async (trx) => {
        await sql`lock table ${sql.table(LATE)} in ${sql.raw(from_readers ? 'access exclusive' : 'exclusive')} mode`.execute(
          trx,
        )
        await work()
      })
    }),
  )
}

function isWaitedFor(url: string): Promise<boolean> {
  return withDatabase(url, async ({ read, dialect }) => {
    const { rows } =
      dialect.name === 'mysql'
        ? await sql`select 1 from information_schema.processlist
            where db = database() and state like 'Waiting for table%' and info like ${`%${LATE}%`}`.execute(read)
        : await sql`select 1 from pg_locks where not granted and relation = ${sql.lit(LATE)}::regclass`.execute(read)
    return rows.length > 0
  })
}

function rowsIn(url: string): Promise<number> {
  return withDatabase(url, async ({ read }) => {
    let rows = 0
    for (const table of TABLE_NAMES) rows += (await read.selectFrom(table).selectAll().execute()).length
    return rows
  })
}
