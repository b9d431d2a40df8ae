import { expect, test } from 'vitest'
import { digestFigures } from '../../src/analytics/digest/digest.js'
import type { MailTransport } from '../../src/config/kinds.js'
import { isDigestWanted, sendDigest } from '../../src/notifications/digest.js'
import { describeEachDatabase } from '../support/databases.js'
import { NOON } from '../support/tracker.js'
import { deskAt, desksOn } from './desk.js'

const DAY = 86_400_000

describeEachDatabase('the digest', (database) => {
  const openDesk = desksOn(database)

  test('goes by e-mail, once for each period, whichever process writes it and when', async () => {
    const mails: Record<string, unknown>[] = []
    const mail_transport: MailTransport = { sendMail: async (mail) => mails.push(mail) }
    const settings = {
      ...{ enable_email_notifications: true, notification_email_recipients: ['team@shop.example'], mail_transport },
      ...{ digest_frequency: 'daily' as const, quiet_hours: '00:00-23:59', webhook_url: 'http://127.0.0.1:9/' },
    }
    const desk = await openDesk(settings)
    const other = deskAt(desk.place, settings)
    await desk.log('Yesterday', { occurred_at: NOON - DAY })
    await desk.context.database.read.deleteFrom('faultboard_deliveries').execute()
    expect(isDigestWanted(desk.context)).toBe(true)
    const write = async ({ context }: typeof desk) => sendDigest(context, await digestFigures(context, 'daily'))
    await Promise.all([write(desk), write(other)])
    desk.clock.now += 3_600_000
    await write(desk)
    const from = Date.parse('2026-03-09T00:00Z')
    const shop = (await desk.rows())[0]?.application_id
    expect(await desk.keys()).toEqual([`digest:${shop}:${from}:email`])
    await desk.sendDue()
    expect(mails).toHaveLength(1)
    expect((await desk.rows())[0]).toMatchObject({ state: 'sent', event: 'digest', channel: 'email' })
    desk.clock.now += DAY
    await write(desk)
    expect(await desk.keys()).toEqual([`digest:${shop}:${from}:email`, `digest:${shop}:${from + DAY}:email`])
  })

  test('of two applications does not keep the other from its own', async () => {
    const mail_transport: MailTransport = { sendMail: async () => ({}) }
    const settings = {
      ...{ enable_email_notifications: true, notification_email_recipients: ['team@shop.example'], mail_transport },
      ...{ digest_frequency: 'daily' as const },
    }
    const desk = await openDesk(settings)
    const billing = deskAt(desk.place, { ...settings, application_name: 'billing' })
    await desk.log('A', { occurred_at: NOON - DAY })
    await billing.log('B', { occurred_at: NOON - DAY })
    await desk.context.database.read.deleteFrom('faultboard_deliveries').execute()
    for (const { context } of [desk, billing]) await sendDigest(context, await digestFigures(context, 'daily'))
    expect((await desk.rows()).map(({ payload }) => JSON.parse(payload).application_name).sort()).toEqual([
      'billing',
      'shop',
    ])
  })

  test('is not wanted without e-mail', async () => {
    const desk = await openDesk({ digest_frequency: 'daily', webhook_url: 'http://127.0.0.1:9/' })
    expect(isDigestWanted(desk.context)).toBe(false)
  })
})
