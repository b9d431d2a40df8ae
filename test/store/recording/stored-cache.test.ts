import { rmSync } from 'node:fs'
import { expect, test } from 'vitest'
import { createDatabase } from '../../../src/store/database.js'
import { sql } from '../../../src/store/kysely.js'
import { RepeatedRows } from '../../../src/store/recording/stored-cache.js'
import { describeEachDatabase } from '../../support/databases.js'
import {
  eventually,
  freshStorage,
  NOON,
  spoolIsEmpty,
  temporaryFolder,
  trackerAt,
  withDatabase,
} from '../../support/tracker.js'

const ERROR = {
  error_type: 'Declined',
  message: 'm',
  platform: 'iOS',
  app_version: '5.1',
  git_sha: 'abc123',
  request_url: 'https://shop.example/checkout',
  tags: { city: 'Oslo' },
}

/** Platforms, commits, releases, tags and URLs of all errors. */
const storedRows = (url: string) =>
  withDatabase(url, async ({ read }) => {
    const origins = await read.selectFrom('faultboard_error_origins').select('value').execute()
    const releases = await read.selectFrom('faultboard_releases').select('version').execute()
    const tags = await read.selectFrom('faultboard_error_tags').select('tag_value').execute()
    const texts = await read.selectFrom('faultboard_search_history').select(['kind', 'search_text']).execute()
    return {
      origins: origins.map(({ value }) => value).sort(),
      releases: releases.map(({ version }) => version),
      tags: tags.map(({ tag_value }) => tag_value),
      urls: texts.flatMap(({ kind, search_text }) => (kind === 'url' ? search_text : [])),
    }
  })

const ALL = { origins: ['abc123', 'iOS'], releases: ['5.1 @abc123'], tags: ['oslo'], urls: ['/checkout'] }

describeEachDatabase('rows that batches repeat', (database) => {
  test('a process writes platforms, commits and releases once', async () => {
    const storage = await freshStorage(database)
    const { tracker } = trackerAt(storage)
    await tracker.Commands.LogError.call(ERROR)
    expect(await storedRows(storage.url)).toEqual(ALL)
    await withDatabase(storage.url, async ({ read }) => {
      await sql`delete from faultboard_error_origins`.execute(read)
      await sql`delete from faultboard_releases`.execute(read)
    })
    await tracker.Commands.LogError.call(ERROR)
    expect(await storedRows(storage.url)).toMatchObject({ origins: [], releases: [] })
    await tracker.Commands.LogError.call({ ...ERROR, platform: 'Android' })
    expect(await storedRows(storage.url)).toMatchObject({ origins: ['Android'], releases: ALL.releases })
    await trackerAt(storage).tracker.Commands.LogError.call(ERROR)
    expect(await storedRows(storage.url)).toMatchObject({ origins: ['Android', 'abc123', 'iOS'] })
  })

  test('an earlier occurrence of a known release changes its first time', async () => {
    const storage = await freshStorage(database)
    const { tracker } = trackerAt(storage)
    for (const age of [0, 0, 60_000, 30_000]) {
      await tracker.Commands.LogError.call({ ...ERROR, occurred_at: NOON - age })
    }
    const [release] = await withDatabase(storage.url, ({ read }) =>
      read.selectFrom('faultboard_releases').select('first_seen_at').execute(),
    )
    expect(release?.first_seen_at).toBe(NOON - 60_000)
  })

  if (database.dialect !== 'sqlite') return

  test('a new file receives all repeated rows again', async () => {
    const storage = await freshStorage(database)
    const { tracker } = trackerAt(storage)
    for (let i = 0; i < 3; i++) await tracker.Commands.LogError.call(ERROR)
    const file = storage.url.slice('sqlite:'.length)
    for (const suffix of ['', '-wal', '-shm']) rmSync(`${file}${suffix}`, { force: true })
    for (let i = 0; i < 3; i++) await tracker.Commands.LogError.call(ERROR)
    await eventually(() => spoolIsEmpty(tracker), 'the spool is imported')
    expect(await storedRows(storage.url)).toEqual(ALL)
  })
})

test('a row counts as stored after the commit of its transaction', async () => {
  const { dialect, close } = createDatabase(`sqlite:${temporaryFolder()}/errors.sqlite3`, '.')
  const rolledBack = new RepeatedRows(dialect)
  rolledBack.add('release', 5)
  expect(new RepeatedRows(dialect).has('release', 5)).toBe(false)
  const committed = new RepeatedRows(dialect)
  committed.add('release', 5)
  committed.commit()
  const next = new RepeatedRows(dialect)
  expect([4, 5, 6].map((time) => next.has('release', time))).toEqual([false, true, true])
  await close()
})
