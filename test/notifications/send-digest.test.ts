import { expect, test } from 'vitest'
import { digestFigures } from '../../src/analytics/digest/digest.js'
import type { MailTransport } from '../../src/config/kinds.js'
import type { RunningJob } from '../../src/jobs/engine.js'
import { HANDLERS } from '../../src/jobs/handlers.js'
import { deliveries } from '../../src/notifications/delivery/deliveries.js'
import { isDigestEnabled, sendDigest } from '../../src/notifications/send-digest.js'
import { recordPeople } from '../../src/people/known-people.js'
import { assignError } from '../../src/triage/commands/assign-error.js'
import { resolveError } from '../../src/triage/commands/resolve-error.js'
import { snoozeError } from '../../src/triage/commands/snooze-error.js'
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
    const other = harnessAt(harness.storage, settings)
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
    const billing = harnessAt(harness.storage, { ...settings, application_name: 'billing' })
    await harness.log('A', { occurred_at: NOON - DAY })
    await billing.log('B', { occurred_at: NOON - DAY })
    await harness.context.database.read.deleteFrom('faultboard_deliveries').execute()
    for (const { context } of [harness, billing]) await sendDigest(context, await digestFigures(context, 'daily'))
    expect((await harness.rows()).map(({ payload }) => JSON.parse(payload).application_name).sort()).toEqual([
      'billing',
      'shop',
    ])
  })

  test('sends assigned recipients their open errors, and all other recipients one shared digest', async () => {
    const mails: Record<string, unknown>[] = []
    const mail_transport: MailTransport = { sendMail: async (mail) => mails.push(mail) }
    const settings = {
      ...{ enable_email_notifications: true, mail_transport, digest_frequency: 'daily' as const, digest_hour: 8 },
      notification_email_recipients: [
        'team@shop.example',
        'Ben <BEN@shop.example>',
        'cora@shop.example',
        'x@y.example',
      ],
      severity_thresholds: { email: 'critical' as const },
    }
    const harness = await openHarness(settings)
    const { context, log, run, rows } = harness
    const addresses = { Ben: 'ben@shop.example', Benny: 'ben@shop.example', Cora: 'cora@shop.example', Dora: null }
    const people = Object.entries(addresses).map(([name, email]) => ({ name, email }))
    await recordPeople(context, people, NOON)
    const assign = async (error_type: string, assigned_to: string, fields = {}) => {
      const error_id = await log(error_type, { occurred_at: NOON - DAY, ...fields })
      await run(assignError, { error_id, assigned_to, actor: assigned_to })
      return error_id
    }
    for (let i = 0; i < 6; i++) await assign(`Older${i}`, 'Ben', { occurred_at: NOON - 40 * DAY + i })
    const newest = await assign('Newest', 'Benny')
    const resolved = await assign('Resolved', 'Ben')
    await run(resolveError, { error_id: resolved })
    await run(snoozeError, { error_id: await assign('Snoozed', 'Ben'), hours: 48 })
    await assign('Unaddressed', 'Dora')
    const billing = harnessAt(harness.storage, { ...settings, application_name: 'billing' })
    await run(assignError, { error_id: await billing.log('Other'), assigned_to: 'Ben', actor: 'Ben' })
    const job = { data: { due_at: Date.parse('2026-03-10T08:00Z') } } as unknown as RunningJob
    await HANDLERS.digest(context, job)
    await run(assignError, { error_id: newest, assigned_to: 'Cora', actor: 'Cora' })
    // A repeated job sends nothing again, although Cora now has an error.
    await HANDLERS.digest(context, job)
    expect(await rows()).toHaveLength(2)
    await harness.sendDue()
    expect(mails.map(({ to }) => to)).toEqual([
      ['team@shop.example', 'cora@shop.example', 'x@y.example'],
      ['Ben <BEN@shop.example>'],
    ])
    const [common, personal] = mails.map(({ text, html }) => ({ lines: String(text).split('\n'), html: String(html) }))
    expect(common?.lines.join()).not.toContain('Assigned to you')
    const start = personal?.lines.indexOf('Assigned to you: 7 open errors') ?? -1
    expect(personal?.lines.slice(start + 1, start + 13)).toEqual([
      '- 1 × Newest: x (low)',
      `  https://shop.example/error_dashboard/errors/${newest}`,
      ...[5, 4, 3, 2].flatMap((i) => [`- 0 × Older${i}: x (low)`, expect.stringContaining('/errors/')]),
      '- and 2 others',
      '',
    ])
    expect(personal?.html).toContain('>Assigned to you: 7 open errors</h2>')
    const { deliveries: listed } = await run(deliveries, {})
    expect(listed.map(({ subject }) => subject)).toEqual(['Daily digest for Ben <BEN@shop.example>', 'Daily digest'])
  })

  test('sends no digest without the email channel', async () => {
    const harness = await openHarness({ digest_frequency: 'daily', webhook_url: 'http://127.0.0.1:9/' })
    expect(isDigestEnabled(harness.context)).toBe(false)
  })
})
