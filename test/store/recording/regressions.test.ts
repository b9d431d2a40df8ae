import { beforeAll, expect, test } from 'vitest'
import { describeEachDatabase } from '../../support/databases.js'
import { NOON, type TestTracker, temporaryFolder, trackerAt } from '../../support/tracker.js'

const HOUR = 3_600_000

describeEachDatabase('a resolved error', (database) => {
  interface Sight {
    app_version?: string
    git_sha?: string
    at?: number
  }

  let url = ''
  let applications = 0
  beforeAll(async () => {
    url = await database.fresh()
  })

  /** Releases belong to an application, so each test uses a separate application. */
  const freshApplication = () =>
    trackerAt(
      { url, spool_path: temporaryFolder() },
      { project_root: temporaryFolder(), application_name: `application ${++applications}` },
    )

  const see = async ({ tracker }: TestTracker, { at = NOON, ...release }: Sight) =>
    (await tracker.Commands.LogError.call({ error_type: 'Broken', message: 'm', occurred_at: at, ...release }))?.id ?? 0

  /** Records the error in all releases, resolves it in the last, and records it in another release. */
  async function resolvedAndSeen(releases: Sight[], returns: Sight) {
    const test = freshApplication()
    let error_id = 0
    for (const [i, release] of releases.entries()) {
      const at = NOON - (10 - i) * HOUR
      if (i === 0) error_id = await see(test, { at, ...release })
      else await test.tracker.Commands.LogError.call({ error_type: 'Other', message: 'm', occurred_at: at, ...release })
    }
    test.clock.now = NOON
    await test.tracker.Commands.ResolveError.call({ error_id, resolved_by: 'Ada' })
    test.clock.now = NOON + HOUR
    await see(test, { at: NOON + HOUR, ...returns })
    return test.tracker.Queries.FindError.call({ error_id })
  }

  test.each([
    [[{ app_version: '1.2.0' }], { app_version: '1.10.0' }],
    [[{ app_version: '1.2.0' }, { app_version: '1.9.0' }], { app_version: '1.10.0' }],
    [[{ app_version: '2026.1' }], { app_version: '2026.2' }],
    [[{ app_version: '1.4.0-f81f3c2' }], { app_version: '1.4.0-a07d11e' }],
    [[{ app_version: '1.4.0-5-gabc1234' }], { app_version: '1.4.0-12-gdef5678' }],
    [[{ app_version: '1.4.0' }], { app_version: '1.4.0-3-gabc1234' }],
    [[{ app_version: '1.4.0-build9' }], { app_version: '1.4.0-build10' }],
    [[{ app_version: '1.4.0+45' }], { app_version: '1.4.0+46' }],
    [[{ app_version: '20260314' }], { app_version: '2.4.0' }],
  ])('a resolved error regresses when it was resolved in %j and occurs in the newer %j', async (before, after) => {
    const error = await resolvedAndSeen(before, after)
    expect(error).toMatchObject({ status: 'new', resolved: false, regressed_in_version: after.app_version })
    expect(error.activities.at(-1)).toMatchObject({
      action: 'regressed',
      comment: `Regressed in ${after.app_version} after Ada resolved it in ${before.at(-1)?.app_version}.`,
    })
  })

  test.each([
    [[{ app_version: '1.2.0' }, { app_version: '1.3.0' }], { app_version: '1.2.0' }],
    [[{ app_version: '1.9.9' }, { app_version: '1.10.0' }], { app_version: '1.9.9' }],
    [[{ app_version: '1.10.0' }, { app_version: '1.9.9' }], { app_version: '1.9.9' }],
    [
      [
        { app_version: '1.0.0', git_sha: 'b81f3c2' },
        { app_version: '1.0.0', git_sha: 'a07d11e' },
      ],
      { app_version: '1.0.0', git_sha: 'b81f3c2' },
    ],
    [[{ app_version: '1.0.0+46' }, { app_version: '1.0.0+45' }], { app_version: '1.0.0+46' }],
    [[{ git_sha: 'a81f3c2' }, { git_sha: 'b07d11e' }], { git_sha: 'a81f3c2' }],
  ])('a resolved error stays resolved in %j and counts when the older %j still reports it', async (before, after) => {
    const error = await resolvedAndSeen(before, after)
    expect(error).toMatchObject({ status: 'resolved', resolved: true, occurrence_count: 2, regressed_in_version: null })
  })

  test.each([
    [[{ app_version: '1.2.0' }], { app_version: '1.2.0' }],
    [[{ app_version: '1.2.0' }], {}],
    [[{}], { app_version: '1.2.0' }],
    [[{}], {}],
    [[{ app_version: '1.2.0' }, { app_version: '1.10.0' }], { app_version: '1.9.9' }],
    [[{ app_version: '2.3.0' }, { app_version: '999.0.0' }], { app_version: '2.4.0' }],
    [[{ app_version: '1.2.0', git_sha: 'b81f3c2' }], { app_version: '1.2.0', git_sha: 'b81f3c2' }],
    [[{ app_version: '1.2.0', git_sha: 'b81f3c2' }], { app_version: '1.2.0' }],
    [
      [
        { app_version: '2.0.0', git_sha: 'b81f3c2' },
        { app_version: '1.9.9', git_sha: 'a07d11e' },
      ],
      { app_version: '2.0.0', git_sha: 'b81f3c2' },
    ],
  ])(
    'a resolved error is reopened without a regression when it was resolved in %j and occurs in %j',
    async (before, after) => {
      const error = await resolvedAndSeen(before, after)
      expect(error).toMatchObject({ status: 'new', resolved: false, regressed_in_version: null })
      expect(error.activities.at(-1)).toMatchObject({ action: 'reopened' })
    },
  )

  test('ignores the versions of other platforms', async () => {
    const test = freshApplication()
    const { Commands, Queries } = test.tracker
    const log = (error_type: string, platform: string, app_version: string, occurred_at: number) =>
      Commands.LogError.call({ error_type, message: 'm', platform, app_version, occurred_at })
    const error_id = (await log('Broken', 'API', '2.34.0', NOON - HOUR))?.id ?? 0
    await log('Other', 'iOS', '8.5.0', NOON - HOUR)
    await Commands.ResolveError.call({ error_id })
    expect(await Queries.FindError.call({ error_id })).toMatchObject({ resolved_in_version: '2.34.0' })
    test.clock.now = NOON + HOUR
    await log('Broken', 'API', '2.35.0', NOON + HOUR)
    expect(await Queries.FindError.call({ error_id })).toMatchObject({ status: 'new', regressed_in_version: '2.35.0' })
  })

  test('a resolved error regresses when it occurs in a commit that was first seen after the resolution', async () => {
    const test = freshApplication()
    const error_id = await see(test, { git_sha: 'ffff111', at: NOON - HOUR })
    await test.tracker.Commands.ResolveError.call({ error_id })
    test.clock.now = NOON + HOUR
    await test.tracker.Commands.LogError.call({
      error_type: 'Other',
      message: 'm',
      git_sha: 'aaaa222',
      occurred_at: NOON + 1,
    })
    await see(test, { git_sha: 'aaaa222', at: NOON + HOUR })
    expect(await test.tracker.Queries.FindError.call({ error_id })).toMatchObject({
      status: 'new',
      regressed_in_version: 'aaaa222',
    })
  })

  test('a resolved error regresses when the same version has another commit, which the activity trail names', async () => {
    const error = await resolvedAndSeen(
      [
        { app_version: '1.0.0', git_sha: 'f81f3c2' },
        { app_version: '1.0.0', git_sha: 'b07d11e' },
      ],
      { app_version: '1.0.0', git_sha: 'a2222222222222222222' },
    )
    expect(error).toMatchObject({ status: 'new', regressed_in_version: '1.0.0' })
    expect(error.activities.at(-1)).toMatchObject({
      comment: 'Regressed in 1.0.0 (a22222222222) after Ada resolved it in 1.0.0.',
    })
  })

  test('recognizes older releases among many newer releases on every platform', async () => {
    const test = freshApplication()
    const { Commands, Queries } = test.tracker
    const sha = (i: number) => `${(i * 7919) % 1000}`.padStart(7, 'f')
    const log = (error_type: string, i: number, platform = 'API') =>
      Commands.LogError.call({ error_type, message: 'm', platform, git_sha: sha(i), occurred_at: NOON - 9000 + i })
    const old = (await log('Old', 0))?.id ?? 0
    const newest = (await log('Newest', 250))?.id ?? 0
    await Promise.all(Array.from({ length: 249 }, (_, i) => log('Other', i + 1)))
    await Promise.all(Array.from({ length: 249 }, (_, i) => log('Other', i + 300, 'Web')))
    await Commands.BatchResolveErrors.call({ error_ids: [old, newest] })
    expect(await Queries.FindError.call({ error_id: old })).toMatchObject({ resolved_in_version: sha(250) })
    test.clock.now = NOON + HOUR
    const again = (error_type: string, i: number) =>
      Commands.LogError.call({ error_type, message: 'm', platform: 'API', git_sha: sha(i), occurred_at: NOON + HOUR })
    await again('Old', 0)
    await again('Newest', 250)
    expect(await Queries.FindError.call({ error_id: old })).toMatchObject({ status: 'resolved', occurrence_count: 2 })
    expect(await Queries.FindError.call({ error_id: newest })).toMatchObject({
      status: 'new',
      regressed_in_version: null,
    })
  })

  test('clears the regression when the error is resolved again, and never reopens wont_fix', async () => {
    const test = freshApplication()
    const { Commands, Queries } = test.tracker
    const error_id = await see(test, { app_version: '1.0.0', at: NOON - HOUR })
    await Commands.ResolveError.call({ error_id })
    test.clock.now = NOON + HOUR
    await see(test, { app_version: '1.1.0', at: NOON + HOUR })
    expect(await Queries.FindError.call({ error_id })).toMatchObject({ regressed_in_version: '1.1.0' })
    await Commands.BatchResolveErrors.call({ error_ids: [error_id] })
    expect(await Queries.FindError.call({ error_id })).toMatchObject({ resolved: true, regressed_in_version: null })
    await Commands.UpdateStatus.call({ error_id, status: 'wont_fix' })
    test.clock.now = NOON + 2 * HOUR
    await see(test, { app_version: '1.2.0', at: NOON + 2 * HOUR })
    expect(await Queries.FindError.call({ error_id })).toMatchObject({ status: 'wont_fix', resolved: true })
  })
})
