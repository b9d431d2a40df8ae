import { expect, test } from 'vitest'
import { describeOneDatabase } from '../../support/databases.js'
import { harnessesOn, WEBHOOK } from '../delivery-harness.js'

describeOneDatabase('notification_environments', (database) => {
  const open = harnessesOn(database)

  test('limits notifications to the named environments, and selects all by default', async () => {
    const limited = await open({ ...WEBHOOK, notification_environments: ['production'] })
    await limited.log('A', { environment: 'staging' })
    await limited.log('A', { environment: 'Production' })
    expect(await limited.keys()).toEqual([])
    const id = await limited.log('A', { environment: 'production' })
    expect(await limited.keys()).toEqual([`new:${id}:webhook`])
    const unlimited = await open()
    await unlimited.log('A', { environment: 'staging' })
    expect(await unlimited.keys()).toHaveLength(1)
  })
})
