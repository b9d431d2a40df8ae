import { expect, test } from 'vitest'
import type { LogErrorInput } from '../../src/capture/fields.js'
import { MINUTE } from '../../src/model/time.js'
import { errorMarkdown } from '../../src/triage/queries/error-markdown.js'
import { describeEachDatabase, type TestDatabase } from '../support/databases.js'
import { freshTracker, NOON, withDatabase } from '../support/tracker.js'

async function logger(database: TestDatabase, settings = {}) {
  const { tracker, clock, url } = await freshTracker(database, settings)
  const log = async (input: LogErrorInput) => {
    const logged = await tracker.Commands.LogError.call({ error_type: 'E', ...input })
    return logged?.id ?? 0
  }
  const found = async (search: string) =>
    (await tracker.Queries.ErrorsList.call({ search })).map(({ message }) => message)
  return { tracker, clock, url, log, found }
}

const FIRST = {
  message: 'User 1 not found',
  backtrace: ['at run (src/job.js:5:1)', 'at old (node_modules/lib/old.js:7:7)'],
  request_url: '/first',
}
const SECOND = {
  message: 'User 922 not found',
  backtrace: ['at run (src/job.js:50:1)', 'at neu (node_modules/lib/neu.js:7:7)'],
  request_url: '/second',
}

/** If the location is that of the cause, the cause belongs to the occurrence too. */
function wrapped(line: number): Error {
  const at = (error: Error, frame: string) =>
    Object.assign(error, { stack: `${error.name}: ${error.message}\n    at ${frame}` })
  const cause = at(new Error('no price'), `price (/srv/price.js:${line}:1)`)
  return at(new Error(`Order ${line} failed`, { cause }), `pay (/srv/pay.js:${line}0:1)`)
}

describeEachDatabase('an error with a selected occurrence', (database) => {
  test('shows message, location, backtrace, request, user, platform and version of that occurrence', async () => {
    const { tracker, log } = await logger(database)
    const older = {
      ...FIRST,
      ...{
        user_id: 'anna',
        platform: 'iOS',
        app_version: '1.0.0',
        git_sha: 'a'.repeat(40),
        request_params: { page: '1' },
      },
    }
    const newer = {
      ...SECOND,
      ...{
        user_id: 'bob',
        platform: 'Android',
        app_version: '2.0.0',
        git_sha: 'b'.repeat(40),
        request_params: { page: '2' },
      },
    }
    const error_id = await log({ ...older, occurred_at: NOON - 2000 })
    await log({ ...newer, occurred_at: NOON - 1000 })
    const newest = await tracker.Queries.FindError.call({ error_id })
    expect(newest).toMatchObject({ ...newer, place: 'src/job.js:50 in run', last_app_version: '2.0.0' })
    const ofError = {
      occurred_at: new Date(NOON - 1000).toISOString(),
      first_seen_at: new Date(NOON - 2000).toISOString(),
      first_app_version: '1.0.0',
      last_app_version: '2.0.0',
      occurrence_count: 2,
    }
    const selected = await tracker.Queries.FindError.call({
      error_id,
      occurrence_id: newest.occurrence?.previous_id ?? 0,
    })
    expect(selected).toMatchObject({ ...older, ...ofError, place: 'src/job.js:5 in run' })
    expect(selected.occurrence).toMatchObject({ message: older.message, user_id: 'anna', app_version: '1.0.0' })
    const again = await tracker.Queries.FindError.call({ error_id, occurrence_id: newest.occurrence?.id ?? 0 })
    expect(again).toEqual(newest)
    const [listed] = await tracker.Queries.ErrorsList.call({})
    expect(listed).toMatchObject({ message: newest.message, place: newest.place, user_id: 'bob', app_version: '2.0.0' })
  })

  test('shows the root cause location of that occurrence', async () => {
    const { tracker, log } = await logger(database, { project_root: '/srv' })
    const error_id = await log({ exception: wrapped(1), occurred_at: NOON - 2000 })
    expect(await log({ exception: wrapped(2), occurred_at: NOON - 1000 })).toBe(error_id)
    const { occurrence, ...newest } = await tracker.Queries.FindError.call({ error_id })
    expect(newest).toMatchObject({ message: 'Order 2 failed', place: 'price.js:2 in price' })
    const [listed] = await tracker.Queries.ErrorsList.call({})
    expect(listed?.place).toBe(newest.place)
    const occurrence_id = occurrence?.previous_id ?? 0
    const selected = await tracker.Queries.FindError.call({ error_id, occurrence_id })
    expect(selected).toMatchObject({ message: 'Order 1 failed', place: 'price.js:1 in price' })
    expect(selected.causes[0]?.backtrace).toEqual(['at price (price.js:1:1)'])
    const markdown = errorMarkdown(selected, { url: 'https://host', root: '/srv' })
    expect(markdown).toContain('caused at `price.js:1 in price`')
  })
})

describeEachDatabase('newest occurrence and search history', (database) => {
  test('shows and finds message, backtrace, location and request of the newest occurrence', async () => {
    const { tracker, log, found } = await logger(database)
    const error_id = await log({ ...FIRST, occurred_at: NOON - 2000 })
    expect(await log({ ...SECOND, occurred_at: NOON - 1000 })).toBe(error_id)
    const record = await tracker.Queries.FindError.call({ error_id })
    expect(record).toMatchObject({ ...SECOND, place: 'src/job.js:50 in run', occurrence: { message: SECOND.message } })
    expect(await tracker.Queries.ErrorsList.call({})).toMatchObject([
      { message: SECOND.message, place: 'src/job.js:50 in run' },
    ])
    expect(errorMarkdown(record, { url: null, root: '' } as never)).toContain(SECOND.message)
    for (const shown of ['neu.js', 'job.js:50', 'User 922', 'USER 922'])
      expect(await found(shown), shown).toEqual([SECOND.message])
    for (const earlier of ['old.js', 'job.js:5:', 'User 1 not'])
      expect(await found(earlier), earlier).toEqual([SECOND.message])
    expect(await found('User 5')).toEqual([])
    expect(record.occurrences.map(({ message }) => message)).toEqual([SECOND.message, FIRST.message])
  })

  test('keeps showing the newest occurrence when an older occurrence arrives late', async () => {
    const { tracker, log, found } = await logger(database)
    const error_id = await log({ ...SECOND, occurred_at: NOON - 1000 })
    await log({ ...FIRST, occurred_at: NOON - 60_000 })
    expect(await tracker.Queries.FindError.call({ error_id })).toMatchObject({ ...SECOND, occurrence_count: 2 })
    await Promise.all([
      log({ ...SECOND, message: 'User 7 not found', occurred_at: NOON - 500 }),
      log({ ...FIRST, message: 'User 8 not found', occurred_at: NOON - 90_000 }),
    ])
    const record = await tracker.Queries.FindError.call({ error_id })
    expect(record).toMatchObject({ ...SECOND, message: 'User 7 not found', occurrence_count: 4 })
    expect(record.occurrences.map(({ message }) => message)).toEqual([7, 922, 1, 8].map((id) => `User ${id} not found`))
    expect(await found('User 7')).toEqual(['User 7 not found'])
  })

  test('shows the newest occurrence of a storm in which most occurrences have no row', async () => {
    const { tracker, log } = await logger(database, { max_full_occurrences_per_minute: 3 })
    const ids = []
    for (let n = 0; n < 12; n++) {
      const backtrace = [`at run (src/job.js:${n + 1}:1)`]
      ids.push(await log({ message: `User ${n} not found`, backtrace, occurred_at: NOON + n }))
    }
    const error_id = ids[0] ?? 0
    const record = await tracker.Queries.FindError.call({ error_id })
    expect(record.occurrence_count).toBe(12)
    expect(record.message).toBe(record.occurrence?.message)
    expect(record.place).toBe(`src/job.js:${record.backtrace[0]?.match(/:(\d+):/)?.[1]} in run`)
  })

  test('shows a newest occurrence without a row even if older occurrences arrive late', async () => {
    const { tracker, clock, log, found } = await logger(database, { max_full_occurrences_per_minute: 1 })
    const logAt = (id: number, seconds: number) =>
      log({
        message: `User ${id} not found`,
        backtrace: [`at run (src/job.js:${id}:1)`],
        occurred_at: NOON - 100_000 + seconds * 1000,
      })
    const expectShown = async (error_id: number, id: number) => {
      const shown = { message: `User ${id} not found`, place: `src/job.js:${id} in run` }
      const record = await tracker.Queries.FindError.call({ error_id })
      expect(record).toMatchObject({ ...shown, backtrace: [`at run (src/job.js:${id}:1)`] })
      expect(await tracker.Queries.ErrorsList.call({})).toMatchObject([shown])
      expect(await found(`job.js:${id}`)).toEqual([shown.message])
      expect(await found(shown.message)).toEqual([shown.message])
      return record
    }
    // In each batch, the second occurrence is counted without a row.
    const [error_id = 0] = await Promise.all([logAt(1, 10), logAt(2, 50)])
    await expectShown(error_id, 1)
    clock.now = NOON + MINUTE
    await logAt(3, 40)
    await expectShown(error_id, 3)
    clock.now = NOON + 2 * MINUTE
    await Promise.all([logAt(4, 30), logAt(5, 90)])
    const record = await expectShown(error_id, 3)
    expect(record).toMatchObject({ occurrence_count: 5, occurred_at: new Date(NOON - 10_000).toISOString() })
  })

  test('limits the search history of an error', async () => {
    const { log, found, url } = await logger(database)
    for (let n = 0; n < 60; n++)
      await log({
        message: `User ${1000 + n} not found`,
        backtrace: [`at run (src/job.js:${1000 + n}:1)`],
        occurred_at: NOON + n,
      })
    const newest = 'User 1059 not found'
    for (const text of ['User 1059', 'job.js:1059', 'User 1045', 'job.js:1045', 'User 1000', 'job.js:1000'])
      expect(await found(text), text).toEqual([newest])
    expect(await found('User 1020')).toEqual([])
    await withDatabase(url, async ({ read }) => {
      const rows = await read.selectFrom('faultboard_search_history').select('kind').execute()
      for (const wanted of ['message', 'backtrace']) {
        const kept = rows.filter(({ kind }) => kind === wanted).length
        expect(kept, wanted).toBeGreaterThanOrEqual(20)
        expect(kept, wanted).toBeLessThan(50)
      }
    })
  })

  test('finds earlier messages of many errors, but not those of deleted errors', async () => {
    const { tracker, log, found } = await logger(database)
    // SQLite adds 64 texts of the history to its index at a time.
    const types = Array.from({ length: 70 }, (_, n) => `Type${n}`)
    let ids: number[] = []
    for (const round of [1, 2]) {
      const logged = types.map((error_type, n) =>
        log({ error_type, message: `Parcel ${round}000${n} is lost`, occurred_at: NOON + round * 1000 + n }),
      )
      ids = await Promise.all(logged)
    }
    const samples = [0, 1, 31, 59, 60, 62, 63, 64, 65, 69]
    for (const n of samples) expect(await found(`1000${n} is`)).toEqual([`Parcel 2000${n} is lost`])
    await tracker.Commands.BatchDeleteErrors.call({ error_ids: ids.slice(0, 60) })
    for (const n of samples) expect(await found(`1000${n} is`)).toHaveLength(n < 60 ? 0 : 1)
  })

  test('finds a backtrace that recurs after many other backtraces and stores it once', async () => {
    const { log, found, url } = await logger(database)
    const lines = [1, 2, ...Array.from({ length: 25 }, (_, n) => 100 + n), 2, 2, 1, 2]
    for (const [n, line] of lines.entries())
      await log({ message: 'No user', backtrace: [`at run (src/job.js:${line}000:1)`], occurred_at: NOON + n })
    expect(await found('job.js:2000')).toEqual(['No user'])
    await withDatabase(url, async ({ read }) => {
      const rows = await read.selectFrom('faultboard_search_history').select('search_text').execute()
      expect(rows.length).toBeLessThan(30)
      expect(rows.filter(({ search_text }) => search_text.includes('job.js:2000:'))).toHaveLength(1)
      expect(rows.filter(({ search_text }) => search_text.includes('job.js:1000:'))).toEqual([])
    })
  })

  test('stores alternating messages once', async () => {
    const { log, url } = await logger(database)
    for (let n = 0; n < 10; n++)
      await log({ message: `User ${n % 2} not found`, backtrace: FIRST.backtrace, occurred_at: NOON + n })
    await withDatabase(url, async ({ read }) => {
      const rows = await read.selectFrom('faultboard_search_history').selectAll().execute()
      expect(rows.map(({ search_text }) => search_text)).toEqual(['user 1 not found'])
    })
  })

  test('deletes the search history with the error', async () => {
    const { tracker, log, url } = await logger(database)
    const error_id = await log(FIRST)
    await log(SECOND)
    await tracker.Commands.BatchDeleteErrors.call({ error_ids: [error_id] })
    await withDatabase(url, async ({ read }) => {
      expect(await read.selectFrom('faultboard_search_history').select('id').execute()).toEqual([])
    })
  })
})
