import { expect, test } from 'vitest'
import type { LogErrorInput } from '../../src/capture/fields.js'
import type { TrackerError } from '../../src/model/errors.js'
import type { ErrorsListInput } from '../../src/triage/list/errors-list.js'
import { describeEachDatabase, type TestDatabase } from '../support/databases.js'
import { freshTracker, NOON, trackerAt } from '../support/tracker.js'

const HOUR = 3_600_000
const DAY = 24 * HOUR

const ERRORS: Record<string, Partial<LogErrorInput>> = {
  Alpha: { platform: 'ios', severity: 'critical', user_id: 1, app_version: '1.0', git_sha: 'aaa', occurred_at: NOON },
  Beta: {
    platform: 'Web',
    severity: 'high',
    user_id: 2,
    app_version: '2.0',
    git_sha: 'bbb',
    occurred_at: NOON - 2 * HOUR,
  },
  Gamma: { platform: 'Web', severity: 'low', user_id: 1, app_version: '1.0', occurred_at: NOON - DAY },
  Delta: { severity: 'medium', occurred_at: NOON - 20 * DAY },
  Omega: { severity: 'medium', occurred_at: NOON - 60 * DAY },
}

async function setUp(database: TestDatabase) {
  const started = await freshTracker(database)
  const { tracker } = started
  const ids: Record<string, number> = {}
  await Promise.all(
    Object.entries(ERRORS).map(async ([error_type, fields]) => {
      ids[error_type] = (await tracker.Commands.LogError.call({ error_type, message: 'x', ...fields }))?.id ?? 0
    }),
  )
  const names = async (filter: ErrorsListInput) =>
    (await tracker.Queries.ErrorsList.call(filter)).map(({ error_type }) => error_type).join(' ')
  const idOf = (name: string) => ids[name] ?? 0
  return { ...started, idOf, names }
}

/** Enough errors for a page that stops early to look up tags one by one. */
const MANY = 50

describeEachDatabase('pages of many and of few matching errors', (database) => {
  test('every page contains the errors of the whole list at the same positions', async () => {
    const { tracker } = await freshTracker(database)
    await Promise.all(
      Array.from({ length: MANY }, (_, i) =>
        tracker.Commands.LogError.call({
          error_type: `E${i}`,
          message: 'x',
          severity: i % 10 === 0 ? 'high' : 'low',
          tags: { region: i % 7 === 0 ? 'south' : 'north', [`key-${i}`]: i },
          app_version: i % 9 === 0 ? '2.0' : '1.0',
          occurred_at: NOON - i * HOUR,
        }),
      ),
    )
    const filters: [ErrorsListInput, count: number][] = [
      [{ tag: 'region:north' }, 42],
      [{ tag: 'region:north\nkey-1:1' }, 1],
      [{ query: '-tag:region=south' }, 42],
      [{ query: 'tag:region=no*' }, 42],
      [{ app_version: '1.0' }, 44],
      [{ app_version: '1.0', application_id: 1 }, 44],
      [{ app_version: '1.0', tag: 'region:north' }, 37],
      [{ severity: 'high' }, 5],
      [{ severity: 'high', sort_by: 'first_seen_at', sort_direction: 'asc' }, 5],
    ]
    for (const [filter, count] of filters) {
      const ids = async (page: ErrorsListInput) =>
        (await tracker.Queries.ErrorsList.call({ ...filter, ...page })).map(({ id }) => id)
      const all = await ids({ per_page: 100 })
      expect([filter, all.length]).toEqual([filter, count])
      for (const page of [1, Math.ceil(count / 2), count])
        expect([filter, page, await ids({ per_page: 1, page })]).toEqual([filter, page, all.slice(page - 1, page)])
    }
  })
})

describeEachDatabase('the errors list', (database) => {
  test('shows all errors without a filter, newest first', async () => {
    const { names } = await setUp(database)
    expect(await names({})).toBe('Alpha Beta Gamma Delta Omega')
  })

  test('filters by platform in any notation, type, severity, version, commit and user', async () => {
    const { tracker, names } = await setUp(database)
    expect(await names({ platform: 'Web' })).toBe('Beta Gamma')
    expect(await names({ platform: 'ios' })).toBe('Alpha')
    expect(await names({ platform: 'iOS' })).toBe('Alpha')
    expect(await names({ platform: 'API' })).toBe('Delta Omega')
    expect(await names({ error_type: 'Beta' })).toBe('Beta')
    expect(await names({ error_type: 'beta' })).toBe('')
    expect(await names({ severity: 'medium' })).toBe('Delta Omega')
    expect(await names({ app_version: '1.0' })).toBe('Alpha Gamma')
    expect(await names({ git_sha: 'bbb' })).toBe('Beta')
    expect(await names({ git_sha: 'bb' })).toBe('')
    expect(await names({ user_id: '1' })).toBe('Alpha Gamma')
    expect(await names({ platform: 'Web', user_id: '1' })).toBe('Gamma')
    expect(await names({ platform: '', severity: '' as never, search: ' ' })).toBe('Alpha Beta Gamma Delta Omega')
    // Matches the user although a newer occurrence has another user.
    await tracker.Commands.LogError.call({ error_type: 'Beta', message: 'x', user_id: 9, occurred_at: NOON - HOUR })
    expect(await names({ user_id: '2' })).toBe('Beta')
  })

  test('filters by any version of an error within its application', async () => {
    const storage = await setUp(database)
    const { tracker, names } = storage
    await tracker.Commands.LogError.call({ error_type: 'Alpha', message: 'x', app_version: '3.0' })
    expect(await names({ app_version: '1.0' })).toBe('Alpha Gamma')
    expect(await names({ app_version: '3.0' })).toBe('Alpha')
    expect(await names({ app_version: '1.0', search: 'x', unresolved: true, platform: 'Web' })).toBe('Gamma')
    const billing = trackerAt(storage, { application_name: 'billing' }).tracker
    const otherError = { error_type: 'Theirs', message: 'x', app_version: '1.0', occurred_at: NOON - 3 * HOUR }
    await billing.Commands.LogError.call(otherError)
    expect(await names({ app_version: '1.0' })).toBe('Alpha Theirs Gamma')
    const [shop] = (await tracker.Queries.Applications.call()).filter(({ name }) => name === 'shop')
    expect(await names({ app_version: '1.0', application_id: shop?.id ?? 0 })).toBe('Alpha Gamma')
    expect((await tracker.Queries.ErrorsList.page({ app_version: '1.0' })).pagination.total_count).toBe(3)
  })

  test('matches errors that occurred on a platform or in a commit before their newest occurrence', async () => {
    const { tracker, names } = await setUp(database)
    const later = [{ platform: 'Android', git_sha: 'ccc' }, { platform: 'Web' }]
    for (const [i, fields] of later.entries()) {
      const occurred_at = NOON + i + 1
      await tracker.Commands.LogError.call({ error_type: 'Alpha', message: 'x', occurred_at, ...fields })
    }
    expect(await names({ platform: 'ios' })).toBe('Alpha')
    expect(await names({ platform: 'Android' })).toBe('Alpha')
    expect(await names({ platform: 'Web' })).toBe('Alpha Beta Gamma')
    expect(await names({ git_sha: 'aaa' })).toBe('Alpha')
    expect(await names({ git_sha: 'ccc' })).toBe('Alpha')
    expect((await tracker.Queries.ErrorsList.page({ platform: 'Android' })).pagination.total_count).toBe(1)
  })

  test('accepts a commit prefix of at least seven hex digits', async () => {
    const { tracker, names } = await freshTracker(database).then((started) => ({
      ...started,
      names: async (git_sha: string) =>
        (await started.tracker.Queries.ErrorsList.call({ git_sha, sort_by: 'error_type', sort_direction: 'asc' }))
          .map(({ error_type }) => error_type)
          .join(' '),
    }))
    for (const [error_type, git_sha] of [
      ['Full', '0a1b2c3d4e5f60718293a4b5c6d7e8f901234567'],
      ['Other', '0a1b2c4d4e5f60718293a4b5c6d7e8f901234567'],
      ['Short', '0a1b2c3'],
      ['Shorter', '0a1b2c'],
      ['Word', 'feature-x'],
    ] as const)
      await tracker.Commands.LogError.call({ error_type, message: 'x', git_sha })
    expect(await names('0a1b2c3')).toBe('Full Short')
    expect(await names('0a1b2c3d4e5f')).toBe('Full')
    expect(await names('0a1b2c3d4e5f60718293a4b5c6d7e8f901234567')).toBe('Full')
    expect(await names('0a1b2c')).toBe('Shorter')
    expect(await names('0A1B2C3')).toBe('')
    expect(await names('feature')).toBe('')
    expect(await names('feature-x')).toBe('Word')
  })

  test('filters by status, unresolved, assignee and priority', async () => {
    const { tracker, idOf, names } = await setUp(database)
    await tracker.Commands.ResolveError.call({ error_id: idOf('Alpha') })
    await tracker.Commands.UpdateStatus.call({ error_id: idOf('Beta'), status: 'wont_fix' })
    await tracker.Commands.UpdateStatus.call({ error_id: idOf('Gamma'), status: 'investigating' })
    await tracker.Commands.AssignError.call({ error_id: idOf('Gamma'), assigned_to: 'anna@shop.example' })
    await tracker.Commands.UpdatePriority.call({ error_id: idOf('Delta'), priority_level: 4 })
    expect(await names({ status: 'investigating' })).toBe('Gamma')
    expect(await names({ status: 'new' })).toBe('Delta Omega')
    for (const truthy of [true, 'true', '1', 'on', 1] as const)
      expect(await names({ unresolved: truthy })).toBe('Gamma Delta Omega')
    for (const no of [false, 'false', '0', 'off', '', undefined] as const)
      expect(await names({ unresolved: no })).toBe('Alpha Beta Gamma Delta Omega')
    expect(await names({ assigned_to: 'anna@shop.example' })).toBe('Gamma')
    expect(await names({ assigned_to: '__unassigned__' })).toBe('Alpha Beta Delta Omega')
    expect(await names({ priority_level: '4' })).toBe('Delta')
    expect(await names({ priority_level: 0 })).toBe('Alpha Beta Gamma Omega')
  })

  test('hides a snoozed error until the snooze ends', async () => {
    const { tracker, clock, idOf, names } = await setUp(database)
    await tracker.Commands.SnoozeError.call({ error_id: idOf('Beta'), hours: 3 })
    expect(await names({})).toBe('Alpha Beta Gamma Delta Omega')
    expect(await names({ hide_snoozed: true })).toBe('Alpha Gamma Delta Omega')
    clock.now = NOON + 3 * HOUR - 1
    expect(await names({ hide_snoozed: true })).toBe('Alpha Gamma Delta Omega')
    clock.now = NOON + 3 * HOUR
    expect(await names({ hide_snoozed: true })).toBe('Alpha Beta Gamma Delta Omega')
    expect((await tracker.Queries.FindError.call({ error_id: idOf('Beta') })).snoozed).toBe(false)
  })

  test('filters by timeframe', async () => {
    const { names } = await setUp(database)
    expect(await names({ timeframe: 'last_hour' })).toBe('Alpha')
    expect(await names({ timeframe: 'today' })).toBe('Alpha Beta')
    expect(await names({ timeframe: 'yesterday' })).toBe('Gamma')
    expect(await names({ timeframe: 'last_7_days' })).toBe('Alpha Beta Gamma')
    expect(await names({ timeframe: 'last_30_days' })).toBe('Alpha Beta Gamma Delta')
    expect(await names({ timeframe: 'last_90_days' })).toBe('Alpha Beta Gamma Delta Omega')
  })

  test('uses day boundaries of the configured time zone', async () => {
    const { tracker } = await freshTracker(database, { time_zone: 'Asia/Kolkata' })
    for (const [error_type, time] of [
      ['Today', '2026-03-09T18:30:00Z'],
      ['Yesterday', '2026-03-09T18:29:59.999Z'],
    ] as const)
      await tracker.Commands.LogError.call({ error_type, message: 'x', occurred_at: time })
    const names = async (timeframe: 'today' | 'yesterday') =>
      (await tracker.Queries.ErrorsList.call({ timeframe })).map(({ error_type }) => error_type)
    expect([await names('today'), await names('yesterday')]).toEqual([['Today'], ['Yesterday']])
  })

  test('filters by application', async () => {
    const storage = await setUp(database)
    const billing = trackerAt(storage, { application_name: 'billing' }).tracker
    await billing.Commands.LogError.call({ error_type: 'Alpha', message: 'x' })
    const applications = await billing.Queries.Applications.call()
    expect(applications.map(({ name }) => name)).toEqual(['billing', 'shop'])
    const [{ id: application_id = 0 } = {}] = applications
    expect(await billing.Queries.ErrorsList.call({ application_id })).toMatchObject([
      { error_type: 'Alpha', application_name: 'billing', application_id },
    ])
    expect(await storage.names({ error_type: 'Alpha' })).toBe('Alpha Alpha')
    expect(await storage.names({ application_id: 999_999 })).toBe('')
  })

  test('rejects invalid values with the field and the allowed values', async () => {
    const { tracker } = await freshTracker(database)
    const problem = (filter: object) =>
      tracker.Queries.ErrorsList.call(filter as never).then(
        String,
        (error: TrackerError) => `${error.code}: ${error.message}`,
      )
    for (const [filter, message] of [
      [{ page: 'abc' }, 'page must be a whole number from 1 to 1000000000'],
      [{ per_page: Number.NaN }, 'per_page must be a whole number from 1 to 100'],
      [{ per_page: ['5', '6'] }, 'per_page must be a whole number from 1 to 100'],
      [{ severity: 'urgent' }, 'severity must be one of critical, high, medium, low'],
      [{ status: 'open' }, 'status must be one of new, investigating, in_progress, resolved, wont_fix'],
      [
        { timeframe: 'last_year' },
        'timeframe must be one of last_hour, today, yesterday, last_7_days, last_30_days, last_90_days',
      ],
      [
        { sort_by: 'id; drop table' },
        'sort_by must be one of occurred_at, first_seen_at, occurrence_count, error_type, platform, severity, priority_level, status, app_version',
      ],
      [{ sort_direction: 'up' }, 'sort_direction must be one of asc, desc'],
      [{ unresolved: 'maybe' }, 'unresolved must be true or false'],
      [{ application_id: 'x' }, 'application_id must be a record id'],
      [{ search: ['a'] }, 'search must be a string'],
    ] as const)
      expect(await problem(filter)).toBe(`invalid_input: ${message}`)
    expect(await problem('x' as never)).toMatch(/^invalid_input: the input/)
  })
})
