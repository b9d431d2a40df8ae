import { expect, test } from 'vitest'
import { MIGRATIONS } from '../../src/store/migrations/list.js'
import { balancedBooks } from '../support/books.js'
import { describeEachDatabase } from '../support/databases.js'
import { listContext } from '../triage/list-context.js'

describeEachDatabase('what was recorded before the counts were kept', (database) => {
  test('is counted by the migration, also by one that is run again after it failed half-way', async () => {
    const { context, place, log } = await listContext(database)
    await log('First', { user_id: 'ann', app_version: '1.0.0' })
    await log('First', { user_id: 'bob', platform: 'iOS', app_version: '1.0.0' })
    await log('Second', { user_id: 'ann' })
    await log('Nobody')
    const { read, dialect } = context.database
    await read.updateTable('faultboard_errors').set({ user_count: 99 }).execute()
    await read.deleteFrom('faultboard_application_days').execute()
    await expect(balancedBooks(place.url)).rejects.toThrow()

    await MIGRATIONS['0010-counts']?.up(read, dialect)

    expect((await balancedBooks(place.url)).users).toEqual({ 'First ann': 1, 'First bob': 1, 'Second ann': 1 })
  })
})
