import { expect, test } from 'vitest'
import { describeEachDatabase } from '../../support/databases.js'
import { freshTracker, NOON } from '../../support/tracker.js'

const HOUR = 3_600_000
const NOT_MUTED = { muted: false, muted_at: null, muted_until: null, muted_by_name: null, mute_reason: null }

describeEachDatabase('MuteError and UnmuteError', (database) => {
  test('shows name, end and reason of a mute everywhere, and unmutes automatically or manually', async () => {
    const { tracker, clock } = await freshTracker(database)
    const { Commands, Queries } = tracker
    const error_id = (await Commands.LogError.call({ error_type: 'E', message: 'm' }))?.id ?? 0
    const found = () => Queries.FindError.call({ error_id })
    expect(await found()).toMatchObject(NOT_MUTED)

    await Commands.MuteError.call({ error_id, hours: 2, reason: 'known', muted_by: 'Anna', actor: 'admin' })
    const muted = {
      ...{ muted: true, muted_by_name: 'Anna', mute_reason: 'known', muted_at: new Date(NOON).toISOString() },
      muted_until: new Date(NOON + 2 * HOUR).toISOString(),
    }
    expect(await found()).toMatchObject(muted)
    expect((await Queries.ErrorsList.call())[0]).toMatchObject(muted)
    clock.now = NOON + 2 * HOUR
    expect(await found()).toMatchObject({ muted: false })

    await Commands.MuteError.call({ error_id, actor: 'Bob' })
    expect(await found()).toMatchObject({ muted: true, muted_until: null, muted_by_name: 'Bob', mute_reason: null })
    await Commands.UnmuteError.call({ error_id, actor: 'Bob' })
    expect(await found()).toMatchObject(NOT_MUTED)
    expect((await found()).activities).toMatchObject([
      { actor: 'Anna', action: 'muted', to_value: muted.muted_until, comment: 'known' },
      { actor: 'Bob', action: 'muted', to_value: null },
      { actor: 'Bob', action: 'unmuted' },
    ])

    const ids = [error_id, 999_999]
    expect(await Commands.BatchMuteErrors.call({ error_ids: ids, hours: 1 })).toEqual({
      changed: 1,
      unchanged: 0,
      skipped: 1,
    })
    expect(await found()).toMatchObject({ muted: true, muted_by_name: 'system' })
    expect(await Commands.BatchUnmuteErrors.call({ error_ids: ids })).toEqual({ changed: 1, unchanged: 0, skipped: 1 })
    await expect(Commands.MuteError.call({ error_id, hours: 8761 })).rejects.toThrow(/hours must be .* 1 to 8760/)
    await expect(Commands.MuteError.call({ error_id: 999_999 })).rejects.toThrow(/No error with id/)
  })
})
