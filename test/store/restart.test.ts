import { describe, expect, onTestFinished, test } from 'vitest'
import { sql } from '../../src/store/kysely.js'
import { migrate } from '../../src/store/migrate.js'
import { selectedDialects } from '../support/databases/database-servers.js'
import { type Child, startChild } from '../support/processes/children.js'
import { verifiedCounts } from '../support/stored-counts.js'
import { CREDENTIALS, eventually, temporaryFolder, withDatabase } from '../support/tracker.js'

/** `async_logging` of each writing process. */
const WRITERS = [false, true]

interface PrivateServer {
  url: string
  pause(signal: 'SIGINT' | 'SIGQUIT'): Promise<() => Promise<void>>
  stop(): Promise<void>
}

interface Service {
  find(): Record<string, string> | null
  start(programs: Record<string, string>): Promise<PrivateServer>
}

const { postgres } = (await import(new URL('../../scripts/services/postgres.mjs', import.meta.url).href)) as {
  postgres: Service
}
const programs =
  selectedDialects().includes('postgres') && process.env.FAULTBOARD_TEST_POSTGRES ? postgres.find() : null

describe.skipIf(!programs)(`a PostgreSQL restart${programs ? '' : ' (skipped: PostgreSQL was not found)'}`, () => {
  test('neither loses nor duplicates an error of processes with and without async_logging', {
    timeout: 240_000,
  }, async () => {
    const server = await postgres.start(programs ?? {})
    onTestFinished(() => server.stop())
    await withDatabase(server.url, async (database) => {
      await migrate(database)
      // The private server acknowledges commits before they are durable by default.
      await sql`alter database postgres set synchronous_commit = on`.execute(database.read)
    })
    const spool_path = temporaryFolder()
    const settings = {
      ...{ ...CREDENTIALS, database: server.url, spool_path, application_name: 'shop' },
      ...{ max_event_loop_lag_ms: null, max_full_occurrences_per_minute: 1_000_000 },
    }
    const writers = WRITERS.map((async_logging, writer) =>
      startChild('ledger', {
        settings: { ...settings, async_logging },
        writer,
        error_types: ['A', 'B', 'C'],
        at_a_time: 3,
        pause_ms: 20,
      }),
    )
    for (const signal of ['SIGINT', 'SIGQUIT'] as const) {
      await progress(writers, 20)
      const start = await server.pause(signal)
      await progress(writers, 20)
      await start()
    }
    await progress(writers, 20)
    for (const { process } of writers) process.stdin?.end()
    const ends = await Promise.all(writers.map(({ exited: ended }) => ended))
    expect(ends).toEqual(WRITERS.map(() => 0))

    const lines = writers.flatMap((writer) => writer.lines.map((line) => line.split(' ')))
    const numbers = (word: string) => lines.filter(([first]) => first === word).map(([, number]) => number ?? '')
    expect(numbers('dropped')).toEqual([])
    const { users } = await verifiedCounts(server.url)
    const stored = new Map(Object.entries(users).map(([key, count]) => [key.split(' ')[1] ?? '', count]))
    expect(numbers('acknowledged').filter((number) => !stored.has(number))).toEqual([])
    expect([...stored].filter(([, count]) => count !== 1)).toEqual([])
    expect(stored.size).toBe(numbers('attempted').length)
  })
})

/** Waits until each writer has received further acknowledgments. */
async function progress(writers: readonly Child[], count: number): Promise<void> {
  const acknowledged = ({ lines }: Child) => lines.filter((line) => line.startsWith('acknowledged')).length
  const before = writers.map(acknowledged)
  await eventually(
    () => writers.every((writer, i) => acknowledged(writer) >= (before[i] ?? 0) + count),
    'every writer has made progress',
  )
}
