import { expect, test } from 'vitest'
import { digestFigures } from '../../src/analytics/digest/digest.js'
import type { MailTransport } from '../../src/config/kinds.js'
import { isDigestEnabled, sendDigest } from '../../src/notifications/send-digest.js'
import { describeEachDatabase } from '../support/databases.js'
import { NOON } from '../support/tracker.js'
import { harnessAt, harnessesOn } from './delivery-harness.js'

const DAY = 86_400_000

describeEachDatabase('the digest job', (database) => {
  const openHarness = harnessesOn(database)

  test('sends one digest per period across processes', async () => {
    const mails: Record<string, unknown>[] = []
    const mail_transport: MailTransport = { sendMail: async (mail) => mails.push(mail) }
    const settings = {
      ...{ enable_email_notifications: true, notification_email_recipients: ['team@shop.example'], mail_transport },
      ...{ digest_frequency: 'daily' as const, quiet_hours: '00:00-23:59', webhook_url: 'http://127.0.0.1:9/' },
    }
    const harness = await openHarness(settings)
    const other = harnessAt(harness.place, settings)
    await harness.log('Yesterday', { occurred_at: NOON - DAY })
    await harness.context.database.read.deleteFrom('faultboard_deliveries').execute()
    expect(isDigestEnabled(harness.context)).toBe(true)
    const write = async ({ context }: typeof harness) => sendDigest(context, await digestFigures(context, 'daily'))
    await Promise.all([write(harness), write(other)])
    harness.clock.now += 3_600_000
    await write(harness)
    const from = Date.parse('2026-03-09T00:00Z')
    const shop = (await harness.rows())[0]?.application_id
    expect(await harness.keys()).toEqual([`digest:${shop}:${from}:email`])
    await harness.sendDue()
    expect(mails).toHaveLength(1)
    expect((await harness.rows())[0]).toMatchObject({ state: 'sent', event: 'digest', channel: 'email' })
    harness.clock.now += DAY
    await write(harness)
    expect(await harness.keys()).toEqual([`digest:${shop}:${from}:email`, `digest:${shop}:${from + DAY}:email`])
  })

  test('sends a separate digest for each application', async () => {
    const mail_transport: MailTransport = { sendMail: async () => ({}) }
    const settings = {
      ...{ enable_email_notifications: true, notification_email_recipients: ['team@shop.example'], mail_transport },
      ...{ digest_frequency: 'daily' as const },
    }
    const harness = await openHarness(settings)
    const billing = harnessAt(harness.place, { ...settings, application_name: 'billing' })
    await harness.log('A', { occurred_at: NOON - DAY })
    await billing.log('B', { occurred_at: NOON - DAY })
    await harness.context.database.read.deleteFrom('faultboard_deliveries').execute()
    for (const { context } of [harness, billing]) await sendDigest(context, await digestFigures(context, 'daily'))
    expect((await harness.rows()).map(({ payload }) => JSON.parse(payload).application_name).sort()).toEqual([
      'billing',
      'shop',
    ])
  })

  test('sends no digest without the email channel', async () => {
    const harness = await openHarness({ digest_frequency: 'daily', webhook_url: 'http://127.0.0.1:9/' })
    expect(isDigestEnabled(harness.context)).toBe(false)
  })
})
