import { afterAll, beforeAll, expect, test } from 'vitest'
import type { TrackerInstance } from '../../src/tracker.js'
import type { ImportResult, Line, Rejection } from '../../src/transfer/import-records.js'
import type { ExportedLine } from '../../src/transfer/record.js'
import { CASCADE_HOURS, hostAt, usedHost } from '../support/databases/lived-in.js'
import { describeEachDatabase } from '../support/databases.js'
import type { Host } from '../support/host.js'
import { verifiedCounts } from '../support/stored-counts.js'
import { freshTracker, withDatabase } from '../support/tracker.js'

const NOTHING: ImportResult = { created: 0, added: 0, known: 0, outdated: 0, occurrences: 0, rejected: 0 }

describeEachDatabase('export and import', (database) => {
  let host: Host
  let url: string
  let lines: ExportedLine[]

  beforeAll(async () => {
    url = await database.fresh()
    host = await usedHost(url)
    lines = await exported(host.tracker)
  }, 120_000)

  afterAll(() => host.close())

  test('export and import restore pages, counts and activity trail in an empty database', async () => {
    const there = await database.fresh()
    const copy = await hostAt(there)
    const count = lines.filter(({ kind }) => kind === 'error').length
    const { occurrences, ...imported } = await importInto(copy.tracker, lines)
    expect(imported).toEqual({ created: count, added: 0, known: 0, outdated: 0, rejected: 0 })
    expect(occurrences).toBe(total((await verifiedCounts(url)).counts))
    expect(await verifiedCounts(there)).toEqual(await verifiedCounts(url))
    // Computes the results of scheduled jobs.
    await copy.tracker.Services.CascadeDetector.call({ lookback_hours: CASCADE_HOURS })
    await copy.tracker.Services.BaselineCalculator.calculateAllBaselines()
    for (const path of ['/errors?per_page=100', '/overview', '/errors/analytics', '/releases', '/errors/correlation']) {
      expect(plain(await copy.json(path))).toEqual(plain(await host.json(path)))
    }
    // A page reads what the import wrote, so a few errors show a difference between databases.
    const sampling = database.dialect === 'sqlite' ? 1 : 5
    const [here, other] = [await details(host, sampling), await details(copy, sampling)]
    expect(Object.keys(here).length).toBe(Math.ceil(count / sampling))
    expect(other).toEqual(here)
    expect((await copy.json('/errors?search=behind')).pagination).toEqual(
      (await host.json('/errors?search=behind')).pagination,
    )
    await copy.close()
  }, 120_000)

  test('export and import change nothing when an export is imported twice, even after a round trip', async () => {
    const { tracker, url: there } = await freshTracker(database)
    await importInto(tracker, lines)
    const before = await counted(there)
    const again = await importInto(tracker, lines)
    expect(again).toEqual({ ...NOTHING, known: lines.filter(({ kind }) => kind === 'error').length })
    expect(await counted(there)).toEqual(before)

    const own = await counted(url)
    expect(await importInto(host.tracker, lines)).toEqual(again)
    expect(await importInto(host.tracker, await exported(tracker))).toMatchObject({ created: 0, added: 0 })
    expect(await counted(url)).toEqual(own)
  }, 120_000)

  test('export and import add counts to existing errors and keep triage decisions', async () => {
    const { tracker, url: there, clock } = await freshTracker(database)
    clock.now = Date.parse('2026-03-31T10:20:00Z')
    const { Commands, Queries } = tracker
    const steady = { error_type: 'SteadyError', message: 'again', platform: 'Web' }
    const logged = await Commands.LogError.call({ ...steady, user_id: 'ann' })
    const error_id = logged?.id ?? 0
    await Commands.AssignError.call({ error_id, assigned_to: 'here@example.org' })
    await Commands.UpdateStatus.call({ error_id, status: 'investigating' })
    expect(await importInto(tracker, lines)).toMatchObject({ added: 1, rejected: 0 })
    const found = await Queries.FindError.call({ error_id })
    expect(found).toMatchObject({
      occurrence_count: 61,
      user_count: 1,
      status: 'investigating',
      assigned_to: 'here@example.org',
    })
    expect(found.occurrences_pagination.total_count).toBe(61)
    await verifiedCounts(there)
    expect(await Commands.LogError.call(steady)).toMatchObject({ id: error_id, occurrence_count: 62 })
    expect(await importInto(tracker, lines)).toMatchObject({ created: 0, added: 0, occurrences: 0 })
    await verifiedCounts(there)
  })

  test.each([
    ['critical', 'low', 'critical'],
    ['low', 'high', 'high'],
  ] as const)(
    'export and import merge the severities %s (existing) and %s (imported) to %s',
    async (here, there, severity) => {
      const [source, target] = [await freshTracker(database), await freshTracker(database)]
      // The creation time of the application is part of the origin, so the origins differ.
      target.clock.now = Date.parse('2026-03-31T10:20:00Z')
      const error = { error_type: 'SteadyError', message: 'again' }
      await target.tracker.Commands.LogError.call({ ...error, severity: here })
      await source.tracker.Commands.LogError.call({ ...error, severity: there })
      expect(await importInto(target.tracker, await exported(source.tracker))).toMatchObject({ added: 1 })
      expect(await target.tracker.Queries.ErrorsList.call()).toMatchObject([{ severity, occurrence_count: 2 }])
    },
  )

  test('export and import restore an error that was deleted', async () => {
    const { tracker, url: there } = await freshTracker(database)
    await importInto(tracker, lines)
    const before = await verifiedCounts(there)
    const errors = await tracker.Queries.ErrorsList.call({ error_type: 'SteadyError' })
    await tracker.Commands.BatchDeleteErrors.call({ error_ids: errors.map(({ id }) => id) })
    expect(await importInto(tracker, lines)).toMatchObject({ created: 1, occurrences: 60 })
    expect(await verifiedCounts(there)).toEqual(before)
  })

  test('export and import cover only the errors that match the filter', async () => {
    const some = await exported(host.tracker, { severity: 'high', search: 'alpha' })
    const { pagination } = await host.tracker.Queries.ErrorsList.page({ severity: 'high', search: 'alpha' })
    expect(pagination.total_count).toBeGreaterThan(0)
    expect(some.filter(({ kind }) => kind === 'error').length).toBe(pagination.total_count)
  })
})

describeEachDatabase('an export without environments', (database) => {
  test('all lines of a 0.4.0 export are imported with the environment of the newest occurrence', async () => {
    const source = await freshTracker(database, { environment: 'staging', max_occurrences_per_error: 250 })
    await Promise.all(
      Array.from({ length: 600 }, (_, i) =>
        source.tracker.Commands.LogError.call({ error_type: 'Storm', message: 'x', user_id: `user ${i}` }),
      ),
    )
    const lines = (await exported(source.tracker)).map((line) => JSON.parse(JSON.stringify(line)))
    expect(lines.filter(({ kind }) => kind === 'more').length).toBeGreaterThan(0)
    for (const line of lines) {
      delete line.environment
      delete line.error?.environment
      for (const release of line.releases ?? []) delete release.environment
      for (const occurrence of line.occurrences ?? []) occurrence.context = { environment: 'staging' }
    }
    const { tracker, url } = await freshTracker(database)
    // Must not receive the lines, because its environment differs.
    await tracker.Commands.LogError.call({ error_type: 'Storm', message: 'x' })
    expect(await importInto(tracker, lines)).toMatchObject({ created: 1, occurrences: 600, rejected: 0 })
    expect(await importInto(tracker, lines)).toMatchObject({ created: 0, known: 1, rejected: 0 })
    const errors = await tracker.Queries.ErrorsList.call({ sort_by: 'occurrence_count' })
    expect(errors).toMatchObject([
      { environment: 'staging', occurrence_count: 600, user_count: 600 },
      { environment: 'production', occurrence_count: 1 },
    ])
    await verifiedCounts(url)
  })
})

describeEachDatabase('an error that takes several lines', (database) => {
  test('imports every further line once, however often the import is interrupted', async () => {
    const source = await freshTracker(database, { max_occurrences_per_error: 250 })
    await Promise.all(
      Array.from({ length: 1200 }, (_, i) =>
        source.tracker.Commands.LogError.call({ error_type: 'Storm', message: 'x', user_id: `user ${i}` }),
      ),
    )
    await source.tracker.flush()
    expect(await source.tracker.Queries.ErrorsList.call()).toMatchObject([{ user_count: 1200 }])
    const lines = await exported(source.tracker)
    expect(lines.map(({ kind }) => kind)).toEqual(['application', 'error', 'more', 'more'])
    const { tracker, url } = await freshTracker(database)
    const [application, error, second, third] = lines as [ExportedLine, ExportedLine, ExportedLine, ExportedLine]
    expect(await importInto(tracker, [application, error, third])).toMatchObject({ created: 1, occurrences: 1200 })
    expect(await importInto(tracker, lines)).toMatchObject({ ...NOTHING, known: 1 })
    expect(await importInto(tracker, lines)).toMatchObject({ ...NOTHING, known: 1 })
    const [found] = await tracker.Queries.ErrorsList.call()
    expect(found).toMatchObject({ occurrence_count: 1200, user_count: 1200 })
    expect((await verifiedCounts(url)).rows).toBe(250)

    // Skips all lines of an error that changed in the source since its import.
    await source.tracker.Commands.LogError.call({ error_type: 'Storm', message: 'x', user_id: 'one more' })
    expect(await importInto(tracker, await exported(source.tracker))).toMatchObject({ ...NOTHING, outdated: 1 })
    expect((await verifiedCounts(url)).counts).toEqual({ 'shop Storm': 1200 })

    const other = await freshTracker(database)
    const rejections: Rejection[] = []
    expect(await importInto(other.tracker, [second], rejections)).toMatchObject({ ...NOTHING, rejected: 1 })
    expect(rejections).toEqual([{ line: 1, reason: expect.stringContaining('was not imported') }])
  })
})

describeEachDatabase('rejected lines', (database) => {
  test('reports rejected lines by number and imports all other lines', async () => {
    const source = await freshTracker(database)
    await source.tracker.Commands.LogError.call({ error_type: 'Good', message: 'one' })
    const [application, good] = (await exported(source.tracker)) as [ExportedLine, ExportedLine & { kind: 'error' }]
    const bad = (change: object, of: object = {}) => ({
      ...good,
      error: { ...good.error, hash_signature: 'a'.repeat(64), ...change },
      ...of,
    })
    const rejections: Rejection[] = []
    const { tracker, url } = await freshTracker(database)
    const result = await importInto(
      tracker,
      [
        'no json',
        '[1]',
        { hello: 1 },
        { ...good, version: 2 },
        { ...good, kind: 'other' },
        bad({ occurrence_count: 7 }),
        bad({ occurrence_count: -1 }),
        bad({ severity: 'dire' }),
        bad({ error_type: 'x'.repeat(300) }),
        bad({ first_seen_at: 'yesterday' }),
        bad({ hash_signature: "' or 1=1 --" }),
        bad({}, { origins: [] }),
        bad({}, { occurrences: [{ ...good.occurrences[0], payload: 5 }] }),
        bad({}, { hours: null }),
        '{"__proto__":{"version":1},"kind":"error"}',
        application,
        good,
        bad({ message: 'nul \0 and half \ud800' }, { revision: 'b'.repeat(32) }),
      ],
      rejections,
    )
    expect(rejections.map(({ line }) => line)).toEqual(Array.from({ length: 15 }, (_, i) => i + 1))
    const reasons = rejections.map(({ reason }) => reason)
    expect(reasons[0]).toMatch(/^not valid JSON/)
    expect(reasons.slice(1)).toEqual([
      'not a JSON object',
      'not a line of an export: version is missing',
      'written by a newer version of Faultboard (format version 2, supported up to 1)',
      'kind must be one of application, error, more',
      'error.occurrence_count is 7, but its hours add up to 1',
      'error.occurrence_count must be a whole number of at least 1',
      'error.severity must be one of critical, high, medium, low',
      'error.error_type must not be longer than 255 characters',
      'error.first_seen_at must be an ISO 8601 timestamp in UTC',
      'error.hash_signature must be 64 hexadecimal digits',
      'origins must not be empty',
      'an occurrence refers to payload 5, but there are 1',
      'hours must be a list',
      'not a line of an export: version is missing',
    ])
    expect(result).toEqual({ ...NOTHING, created: 2, occurrences: 2, rejected: 15 })
    await verifiedCounts(url)
  })
})

async function exported(tracker: TrackerInstance, filter = {}): Promise<ExportedLine[]> {
  const lines: ExportedLine[] = []
  for await (const line of tracker.Queries.ExportErrors.records(filter)) lines.push(line)
  return lines
}

function importInto(
  tracker: TrackerInstance,
  lines: readonly (object | string)[],
  rejections: Rejection[] = [],
): Promise<ImportResult> {
  async function* texts(): AsyncGenerator<Line> {
    for (const [i, line] of lines.entries()) {
      yield { number: i + 1, text: typeof line === 'string' ? line : JSON.stringify(line) }
    }
  }
  return tracker.Commands.ImportErrors.call({ lines: texts(), reject: (rejection) => void rejections.push(rejection) })
}

/** Removes the ids, which differ between databases. */
function plain(value: unknown): unknown {
  return JSON.parse(
    JSON.stringify(value, (key, child) => (/^(id|error_id|occurrence_id|.*_error_id)$/.test(key) ? undefined : child)),
  )
}

/** Reads the page of every n-th error, by its signature. */
async function details(host: Host, sampling: number): Promise<Record<string, unknown>> {
  const found: Record<string, unknown> = {}
  const errors = await host.tracker.Queries.ErrorsList.call({ per_page: 100 })
  errors.sort((a, b) => (a.hash_signature < b.hash_signature ? -1 : 1))
  for (const { id, hash_signature } of errors.filter((_, i) => i % sampling === 0)) {
    const { related, ...error } = (await host.json(`/errors/${id}`)).error as unknown as Record<string, unknown>
    found[hash_signature] = plain({ ...error, occurrence: null })
  }
  return found
}

/** Numbers of rows and occurrences, without the markers of an import. */
async function counted(url: string): Promise<Record<string, number>> {
  const stored = await verifiedCounts(url)
  const rows = await withDatabase(url, async ({ read }) => {
    const found: Record<string, number> = {}
    for (const table of ['comments', 'activities', 'occurrences', 'error_hours', 'error_users', 'releases'] as const) {
      found[table] = (await read.selectFrom(`faultboard_${table}`).selectAll().execute()).length
    }
    return found
  })
  return { ...stored.counts, ...rows }
}

function total(counts: Record<string, number>): number {
  return Object.values(counts).reduce((sum, count) => sum + count, 0)
}
