import { expect, test } from 'vitest'
import { claimDue, releaseClaims, releaseExpiredClaims } from '../../../src/notifications/delivery/claim-due.js'
import { deliver } from '../../../src/notifications/delivery/deliver.js'
import { describeEachDatabase } from '../../support/databases.js'
import { harnessAt, harnessesOn, webhookInbox } from '../delivery-harness.js'

const SECOND = 1000
const LEASE = 45 * SECOND
const NEVER_ABORTED = new AbortController().signal
const TYPES = Array.from({ length: 60 }, (_, i) => `Kind${i}`)

describeEachDatabase('claimDue', (database) => {
  const openHarness = harnessesOn(database)

  test('assigns each delivery to one of several processes that claim at the same time', async () => {
    const harness = await openHarness()
    const processes = [harness, ...[1, 2, 3].map(() => harnessAt(harness.storage))]
    await Promise.all(TYPES.map((type) => harness.log(type)))
    const ids: number[] = []
    await Promise.all(
      processes.map(async ({ context }) => {
        while (ids.length < TYPES.length) ids.push(...(await claimDue(context, 4)).map(({ id }) => id))
      }),
    )
    const rows = await harness.rows()
    expect(ids.sort((a, b) => a - b)).toEqual(rows.map(({ id }) => id))
    expect(new Set(rows.map(({ state, attempts }) => `${state} ${attempts}`))).toEqual(new Set(['sending 1']))
  })

  test('claims the oldest due deliveries, up to the limit', async () => {
    const harness = await openHarness()
    for (const type of ['A', 'B', 'C']) {
      await harness.log(type)
      harness.clock.now += SECOND
    }
    const [first, second, third] = (await harness.rows()).map(({ id }) => id)
    expect((await claimDue(harness.context, 2)).map(({ id }) => id)).toEqual([first, second])
    expect((await claimDue(harness.context, 2)).map(({ id }) => id)).toEqual([third])
    expect(await claimDue(harness.context, 2)).toEqual([])
  })

  test('lets another process claim the delivery of a killed process when the lease ends', async () => {
    const inbox = await webhookInbox()
    const harness = await openHarness(inbox.settings)
    const other = harnessAt(harness.storage, inbox.settings)
    await harness.log('TypeError')
    const [claimed] = await claimDue(harness.context, 1)
    if (!claimed) throw new Error('nothing was claimed')
    other.clock.now += LEASE
    await releaseExpiredClaims(other.context)
    expect(await claimDue(other.context, 1)).toEqual([])
    other.clock.now += 1
    await releaseExpiredClaims(other.context)
    const [again] = await claimDue(other.context, 1)
    expect(again).toMatchObject({ id: claimed.id, attempts: 1 })
    // The first process was only suspended: its late result must not end the claim of the second process.
    await deliver(harness.context, claimed, NEVER_ABORTED)
    expect((await harness.rows())[0]).toMatchObject({ state: 'sending', attempts: 2, finished_at: null })
    if (again) await deliver(other.context, again, NEVER_ABORTED)
    expect((await harness.rows())[0]).toMatchObject({ state: 'sent', attempts: 2 })
    expect(new Set(inbox.messages.map(({ key }) => key)).size).toBe(1)
  })

  test('does not count the attempt of a released claim', async () => {
    const harness = await openHarness()
    await harness.log('TypeError')
    const claimed = await claimDue(harness.context, 1)
    await releaseClaims(harness.context, claimed)
    expect((await harness.rows())[0]).toMatchObject({ state: 'pending', attempts: 0, locked_until: null })
    expect(await claimDue(harness.context, 1)).toMatchObject([{ id: claimed[0]?.id, attempts: 0 }])
    await releaseClaims(
      harness.context,
      claimed.map((delivery) => ({ ...delivery, locked_until: 1 })),
    )
    expect((await harness.rows())[0]).toMatchObject({ state: 'sending' })
  })

  test('finds a due delivery behind a long backlog of a paused receiver', async () => {
    const inbox = await webhookInbox()
    inbox.behavior = 'busy'
    const harness = await openHarness(inbox.settings)
    await harness.log('First')
    await harness.sendDue()
    harness.clock.now += SECOND
    await Promise.all(TYPES.map((type) => harness.log(type)))
    harness.clock.now += SECOND
    const both = harnessAt(harness.storage, { ...inbox.settings, community_chat_webhook_url: 'http://127.0.0.1:9/' })
    both.clock.now = harness.clock.now
    await both.log('Last')
    expect(await claimDue(both.context, 4)).toMatchObject([{ channel: 'community_chat' }])
    const states = (await harness.rows()).map(({ state }) => state)
    expect(states.filter((state) => state === 'pending')).toHaveLength(TYPES.length + 2)
  })
})
