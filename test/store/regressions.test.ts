import { expect, test } from 'vitest'
import { describeEachDatabase } from '../support/databases.js'
import { freshTracker, NOON, type TestTracker, temporaryFolder } from '../support/tracker.js'

const HOUR = 3_600_000

describeEachDatabase('an error that was resolved', (database) => {
  interface Sight {
    app_version?: string
    git_sha?: string
    at?: number
  }

  const see = async ({ tracker }: TestTracker, { at = NOON, ...release }: Sight) =>
    (await tracker.Commands.LogError.call({ error_type: 'Broken', message: 'm', occurred_at: at, ...release }))?.id ?? 0

  /** Seen in the first, resolved while the last of them was the newest, then seen in another. */
  async function resolvedAndSeen(releases: Sight[], returns: Sight) {
    const test = await freshTracker(database, { project_root: temporaryFolder() })
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
  ])('in %j and comes back in the newer %j is a regression', async (before, after) => {
    const error = await resolvedAndSeen(before, after)
    expect(error).toMatchObject({ status: 'new', resolved: false, regressed_in_version: after.app_version })
    expect(error.activities.at(-1)).toMatchObject({
      action: 'regressed',
      comment: `It came back in ${after.app_version}, after Ada had resolved it in ${before.at(-1)?.app_version}.`,
    })
  })

  test.each([
    [[{ app_version: '1.2.0' }, { app_version: '1.3.0' }], { app_version: '1.2.0' }],
    [[{ app_version: '1.2.0' }, { app_version: '1.10.0' }], { app_version: '1.9.9' }],
    [[{ git_sha: 'a81f3c2' }, { git_sha: 'b07d11e' }], { git_sha: 'a81f3c2' }],
  ])('in %j and is still reported by the older %j stays resolved, and counts', async (before, after) => {
    const error = await resolvedAndSeen(before, after)
    expect(error).toMatchObject({ status: 'resolved', resolved: true, occurrence_count: 2, regressed_in_version: null })
  })

  test.each([
    [[{ app_version: '1.2.0' }], { app_version: '1.2.0' }],
    [[{ app_version: '1.2.0' }], {}],
    [[{}], { app_version: '1.2.0' }],
    [[{}], {}],
  ])('in %j and comes back in %j is reopened, but is no regression', async (before, after) => {
    const error = await resolvedAndSeen(before, after)
    expect(error).toMatchObject({ status: 'new', resolved: false, regressed_in_version: null })
    expect(error.activities.at(-1)).toMatchObject({ action: 'reopened' })
  })

  test('is not kept closed by the versions of another platform, which say nothing', async () => {
    const test = await freshTracker(database, { project_root: temporaryFolder() })
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

  test('by a commit and comes back in one that was first seen later is a regression', async () => {
    const test = await freshTracker(database, { project_root: temporaryFolder() })
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

  test('resolved again is no regression any more, and wont_fix is never reopened', async () => {
    const test = await freshTracker(database, { project_root: temporaryFolder() })
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
