import { beforeAll, describe, expect, test } from 'vitest'
import { createDatabase } from '../../src/store/database.js'
import { migrate } from '../../src/store/migrate.js'
import { type MoveProgress, moveDatabase } from '../../src/store/move/move.js'
import { TABLE_NAMES, TABLES } from '../../src/store/schema.js'
import { hostAt, usedHost } from '../support/databases/lived-in.js'
import { type Dialect, describeEachDatabase } from '../support/databases.js'
import type { Host } from '../support/host.js'
import { PAGES } from '../support/routes.js'
import { verifiedCounts } from '../support/stored-counts.js'
import { withDatabase } from '../support/tracker.js'

/** Removes the process state and the database address, which always differ. */
const OF_THE_PROCESS = ['/health', '/settings', '/process_health']

const NEXT_DIALECT: Record<Dialect, Dialect> = { sqlite: 'postgres', postgres: 'mysql', mysql: 'sqlite' }

describeEachDatabase('a move', (source) => {
  let from: string
  let responses: Record<string, unknown>
  let untouched: Record<string, unknown[]>

  beforeAll(async () => {
    from = await source.fresh()
    const host = await usedHost(from)
    responses = await loadResponses(host)
    await host.close()
    untouched = await everything(from)
  }, 120_000)

  describeEachDatabase('to a target', (target) => {
    test('a moved database has all rows of the source', async () => {
      // A database without tables verifies that the move creates them.
      const to = source.dialect === 'sqlite' ? await target.empty() : await target.fresh()
      const moved = await move(from, to)
      expect(await everything(from)).toEqual(untouched)
      expect(moved.counted_since).toBe(0)
      expect(moved.tables.filter(({ rows }) => rows === 0)).toEqual([])
      for (const { table, rows } of moved.tables) expect([table, rows]).toEqual([table, untouched[table]?.length])
      expect(await everything(to, { isRounded: true })).toEqual(await everything(from, { isRounded: true }))
      // Compares the pages with one source for each target.
      if (target.dialect !== NEXT_DIALECT[source.dialect]) return

      const after = await hostAt(to)
      expect(await loadResponses(after)).toEqual(responses)
      const { Commands, Queries } = after.tracker
      const [steady] = await Queries.ErrorsList.call({ error_type: 'SteadyError' })
      const again = await Commands.LogError.call({ error_type: 'SteadyError', message: 'again', platform: 'Web' })
      expect(again).toMatchObject({ id: steady?.id, occurrence_count: 61 })
      const fresh = await Commands.LogError.call({ error_type: 'Brand new', message: 'after the move' })
      expect(fresh?.id).toBeGreaterThan(Math.max(...(untouched.faultboard_errors ?? []).map(idOf)))
      await Commands.AddComment.call({ error_id: fresh?.id ?? 0, author_name: 'Eve', body: 'still here' })
      await after.close()
      await verifiedCounts(to)
    }, 120_000)
  })

  describeEachDatabase('of fractions to a target', (target) => {
    test('a move accepts fractions whose last digit the target changes', async () => {
      const [from, to] = [await source.fresh(), await target.fresh()]
      await withDatabase(from, async ({ read }) => {
        const rows = Array.from({ length: 400 }, (_, n) => ({
          ...{ application_id: 1, error_type: `Type${n}`, platform: '', environment: 'test', granularity: 'hour' },
          ...{ mean: Math.sqrt(n + 2) / 7, std_dev: Math.log(n + 2) / 3 },
          ...{ sample_count: 30, occurrence_count: n, calculated_at: 0 },
        }))
        await read.insertInto('faultboard_baselines').values(rows).execute()
      })
      const { tables } = await move(from, to)
      expect(tables).toContainEqual(expect.objectContaining({ table: 'faultboard_baselines', rows: 400 }))
    })
  })

  test('a move refuses a target with errors and does not change it', async () => {
    const [from, to] = [await source.fresh(), await source.fresh()]
    for (const url of [from, to]) {
      const host = await hostAt(url)
      await host.tracker.Commands.LogError.call({ error_type: 'Here', message: url.slice(0, 5) })
      await host.close()
    }
    const before = await everything(to)
    await expect(move(from, to)).rejects.toThrow(/is in use. It has rows in faultboard_errors, .*Use another/)
    expect(await everything(to)).toEqual(before)
  })

  test('a move accepts a target on which a host was only started', async () => {
    const [from, to] = [await source.fresh(), await source.fresh()]
    const [sourceHost, targetHost] = [await hostAt(from), await hostAt(to)]
    await sourceHost.tracker.Commands.LogError.call({ error_type: 'Moved', message: 'along' })
    await withDatabase(to, ({ read }) =>
      read.insertInto('faultboard_applications').values({ name: 'other', created_at: 1 }).execute(),
    )
    await sourceHost.close()
    await targetHost.close()
    await move(from, to)
    expect(await everything(to)).toEqual(await everything(from))
  })

  test('a move leaves nothing in the target when it fails at the end', async () => {
    const [from, to] = [await source.fresh(), await source.fresh()]
    const host = await hostAt(from)
    await host.tracker.Commands.LogError.call({ error_type: 'Moved', message: 'along' })
    await host.close()
    const before = await everything(to)
    const last = TABLE_NAMES.at(-1)
    const failing = ({ table }: MoveProgress) => {
      if (table === last) throw new Error('the cable was pulled')
    }
    await expect(move(from, to, failing)).rejects.toThrow('the cable was pulled')
    expect(await everything(to)).toEqual(before)
  })
})

describe('the list of moved tables', () => {
  test('contains every table of the tracker', async () => {
    await withDatabase('sqlite::memory:', async (database) => {
      await migrate(database)
      const tables = await database.read.introspection.getTables()
      const own = tables.map(({ name }) => name).filter((name) => !/migrations|_index(ed)?(_|$)/.test(name))
      expect(own.sort()).toEqual(Object.keys(TABLES).sort())
    })
  })
})

async function move(from: string, to: string, onProgress?: (progress: MoveProgress) => void) {
  const [source, target] = [createDatabase(from, process.cwd()), createDatabase(to, process.cwd())]
  try {
    return await moveDatabase(source, target, onProgress)
  } finally {
    await source.close()
    await target.close()
  }
}

async function loadResponses(host: Host): Promise<Record<string, unknown>> {
  const errors = await host.tracker.Queries.ErrorsList.call({ per_page: 100 })
  const paths = PAGES.map(({ path }) => path).filter((path) => !OF_THE_PROCESS.includes(path))
  const responses: Record<string, unknown> = {}
  for (const path of paths) {
    const ids = path.includes(':error_id') ? errors.slice(0, 4).map(({ id }) => id) : [1]
    for (const id of ids) {
      const address = path.replace(/:\w+\{[^}]+\}/, String(id))
      responses[address] = await host.json(address.endsWith('/compare') ? `${address}?a=1&b=2` : address)
    }
  }
  responses.csv = await (await host.get('/errors.csv')).text()
  responses.search = await host.json('/errors?search=alpha')
  return responses
}

/** Reads all rows. Databases differ in the last digit of a fraction. */
function everything(url: string, { isRounded = false } = {}): Promise<Record<string, unknown[]>> {
  const round = (_: string, value: unknown) => (typeof value === 'number' ? Number(value.toPrecision(12)) : value)
  return withDatabase(url, async ({ read }) => {
    const found: Record<string, unknown[]> = {}
    for (const table of TABLE_NAMES) {
      const rows = (await read.selectFrom(table).selectAll().execute()) as Record<string, unknown>[]
      found[table] = rows.map((row) => JSON.stringify(Object.entries(row).sort(), isRounded ? round : undefined)).sort()
    }
    return found
  })
}

function idOf(row: unknown): number {
  return Number(/"id",(\d+)/.exec(String(row))?.[1])
}
