import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { runAs } from '../../../src/audit/audit-log.js'
import { batchAction } from '../../../src/dashboard/actions/batch-action.js'
import { HOUR, MINUTE } from '../../../src/model/time.js'
import type { Settings } from '../../../src/options.js'
import { recordPeople } from '../../../src/people/known-people.js'
import { assignError } from '../../../src/triage/commands/assign-error.js'
import { batchAssignErrors } from '../../../src/triage/commands/batch-errors.js'
import type { Inbox } from '../../contract/inbox.js'
import { openMailInbox } from '../../contract/mail-inbox.js'
import { describeEachDatabase, describeOneDatabase, type TestDatabase } from '../../support/databases.js'
import { parseMail } from '../../support/mime.js'
import { NOON } from '../../support/tracker.js'
import { harnessAt, harnessesOn } from '../delivery-harness.js'

const SECOND = 1000

/** Settings that hold back or drop every other email. */
const NO_OTHER_EMAIL: Settings = {
  enable_email_notifications: true,
  notification_email_recipients: ['team@shop.example'],
  severity_thresholds: { email: 'critical' },
  notification_environments: ['nowhere'],
  quiet_hours: '00:00-23:59',
}

const EVERY_EMAIL: Settings = { severity_thresholds: {}, notification_environments: null, quiet_hours: null }

function setUp(database: TestDatabase) {
  const openHarness = harnessesOn(database)
  let inbox: Inbox
  beforeAll(async () => {
    inbox = await openMailInbox((smtp_url) => ({ ...NO_OTHER_EMAIL, smtp_url }))
  })
  afterAll(() => inbox?.close())
  beforeEach(() => {
    inbox.messages.length = 0
    inbox.behavior = 'accept'
  })
  return async (settings: Settings = {}) => {
    const harness = await openHarness({ ...inbox.settings, ...settings })
    await recordPeople(
      harness.context,
      [
        { name: 'Ben', email: 'ben@shop.example' },
        { name: 'Cora', email: null },
      ],
      NOON,
    )
    return {
      ...harness,
      inbox,
      assign: (error_id: number, assigned_to: string, actor: string | undefined = 'Anna') =>
        harness.run(assignError, { error_id, assigned_to, actor }),
      /** Sends all emails after the time in which further assignments are added. */
      async sentMails() {
        harness.clock.now += 10 * SECOND
        await harness.sendDue()
        return inbox.messages.splice(0).map(({ raw }) => parseMail(raw))
      },
    }
  }
}

describeEachDatabase('assignment emails', (database) => {
  const open = setUp(database)

  test('assignment emails are sent to the new assignee only', async () => {
    const { log, assign, sentMails, rows } = await open()
    const id = await log('TypeError', { message: 'cart is empty', environment: 'staging' })
    await assign(id, 'Ben')
    expect(await rows()).toMatchObject([
      { event: 'assigned', channel: 'email', error_id: id, environment: 'staging', state: 'pending' },
    ])
    const [mail, ...others] = await sentMails()
    expect(others).toEqual([])
    expect(mail?.headers).toMatchObject({
      to: 'ben@shop.example',
      subject: '[shop (staging)] Error assigned to you by Anna: TypeError: cart is empty',
      'x-faultboard-event': 'assigned',
    })
    expect(mail?.text).toContain(`https://shop.example/error_dashboard/errors/${id}`)
    expect(mail?.text).toContain('You receive this email because errors in shop (staging) were assigned to you.')
    expect(await rows()).toMatchObject([{ state: 'sent' }])
    // Nothing changes.
    await assign(id, 'Ben')
    expect(await sentMails()).toEqual([])
  })

  test('assignment emails are not sent to people without an address or who assign errors to themselves', async () => {
    const { log, assign, rows } = await open()
    const id = await log('A')
    for (const name of ['Cora', 'Stranger', 'ben', 'x'.repeat(255)]) await assign(id, name)
    await assign(id, 'Ben', 'Ben')
    expect(await rows()).toEqual([])
  })

  test('assignment emails of a bulk action are one email', async () => {
    const { log, context, sentMails, rows } = await open()
    const critical = await log('Z', { severity: 'critical' })
    for (let i = 0; i < 29; i++) await log(`E${i}`)
    const origin = { kind: 'password', actor: 'Anna', address: null } as const
    const form = { selection: 'matching', action_type: 'assign', assigned_to: 'Ben' } as const
    await runAs(context, origin, (own) => batchAction.run(own, form as never, 'Anna'))
    expect((await rows()).filter(({ event }) => event === 'assigned')).toMatchObject([{ error_id: null }])
    const [mail, ...others] = await sentMails()
    expect(others).toEqual([])
    expect(mail?.headers.subject).toBe('[shop (test)] 30 errors assigned to you by Anna')
    const lines = mail?.text.split(/\r?\n/) ?? []
    expect(lines.filter((line) => line.startsWith('- '))).toHaveLength(11)
    expect(lines).toContain('- critical: shop (test): Z: x')
    expect(lines).toContain(`  https://shop.example/error_dashboard/errors/${critical}`)
    expect(lines).toContain('- and 20 others')
    expect(lines).toContain(
      'https://shop.example/error_dashboard/errors?unresolved=true&hide_snoozed=true&assigned_to=Ben',
    )
  })

  test('assignment emails contain all assignments of a sender until they are sent', async () => {
    const { log, assign, clock, run, sendDue, sentMails, inbox } = await open()
    const [a, b, c] = [await log('A'), await log('B'), await log('C')]
    await assign(a, 'Ben')
    clock.now += 9 * SECOND
    await assign(b, 'Ben')
    // Assigned twice, counted once.
    await assign(a, 'Cora')
    await assign(a, 'Ben')
    clock.now += 9 * SECOND
    await sendDue()
    expect(inbox.messages).toEqual([])
    await run(batchAssignErrors, { error_ids: [c], assigned_to: 'Ben' })
    expect((await sentMails()).map(({ headers }) => headers.subject).sort()).toEqual([
      '[shop (test)] 2 errors assigned to you by Anna',
      '[shop (test)] Error assigned to you by system: C: x',
    ])
    // Further assignments delay an email by five minutes at most.
    await assign(a, 'Cora')
    await assign(a, 'Ben')
    clock.now += 5 * MINUTE - SECOND
    await assign(b, 'Cora')
    await assign(b, 'Ben')
    clock.now += SECOND
    await sendDue()
    expect(inbox.messages).toHaveLength(1)
  })

  test('assignment emails count an error once that is assigned again and not listed', async () => {
    const { log, assign, run, sentMails } = await open()
    const ids: number[] = []
    for (let i = 0; i < 12; i++) ids.push(await log(`E${i}`))
    await run(batchAssignErrors, { error_ids: ids, assigned_to: 'Ben', actor: 'Anna' })
    for (const id of ids) {
      await assign(id, 'Cora')
      await assign(id, 'Ben')
    }
    const [mail, ...others] = await sentMails()
    expect(others).toEqual([])
    expect(mail?.headers.subject).toBe('[shop (test)] 12 errors assigned to you by Anna')
    expect(mail?.text).toContain('- and 2 others')
  })

  test('assignment emails are sent without notification_email_recipients', async () => {
    const withoutRecipients = { notification_email_recipients: [], ...EVERY_EMAIL }
    const { log, assign, sentMails, sendDue, rows, clock } = await open(withoutRecipients)
    const id = await log('A')
    await assign(id, 'Ben')
    expect((await sentMails()).map(({ headers }) => headers.to)).toEqual(['ben@shop.example'])
    // The error itself has no recipient.
    expect((await rows()).map(({ event, state }) => [event, state])).toEqual([['assigned', 'sent']])
    // An overdue email is not treated like one of a channel that is not configured.
    await assign(id, 'Cora')
    await assign(id, 'Ben')
    clock.now += HOUR
    await sendDue()
    clock.now += HOUR
    await sendDue()
    expect((await rows()).map(({ state }) => state)).toEqual(['sent', 'sent'])
  })

  test('a process without notification_email_recipients leaves other emails to processes with them', async () => {
    const { log, assign, storage, clock, sendDue, inbox } = await open(EVERY_EMAIL)
    const id = await log('A')
    await sendDue()
    await assign(id, 'Ben')
    await log('B')
    const other = harnessAt(storage, { ...inbox.settings, ...EVERY_EMAIL, notification_email_recipients: [] }, clock)
    clock.now += 10 * SECOND
    await other.sendDue()
    expect((await other.rows()).map(({ event, state }) => [event, state])).toEqual([
      ['new', 'sent'],
      ['assigned', 'sent'],
      ['new', 'pending'],
    ])
  })

  test('assignment emails over the hourly limit wait for the next hour', async () => {
    const { log, assign, clock, sentMails } = await open({ notification_max_per_hour: 1 })
    const [a, b, c] = [await log('A'), await log('B'), await log('C')]
    await assign(a, 'Ben')
    expect(await sentMails()).toHaveLength(1)
    await assign(b, 'Ben')
    expect(await sentMails()).toEqual([])
    clock.now = NOON + HOUR - MINUTE
    await assign(c, 'Ben')
    expect(await sentMails()).toEqual([])
    clock.now = NOON + HOUR
    const [mail, ...others] = await sentMails()
    expect(others).toEqual([])
    expect(mail?.headers.subject).toBe('[shop (test)] 2 errors assigned to you by Anna')
  })

  test('assignment emails survive a restart and an outage of the mail server', async () => {
    const { log, assign, storage, inbox, stop, clock, rows } = await open()
    await assign(await log('A'), 'Ben')
    const before = (await rows())[0]
    await stop()
    const restarted = harnessAt(storage, inbox.settings, clock)
    inbox.behavior = 'busy'
    clock.now += 10 * SECOND
    await restarted.sendDue()
    expect(await restarted.rows()).toMatchObject([{ id: before?.id, state: 'pending', attempts: 1 }])
    inbox.behavior = 'accept'
    clock.now += MINUTE
    await restarted.sendDue()
    expect(await restarted.rows()).toMatchObject([{ id: before?.id, state: 'sent', attempts: 2 }])
    expect(inbox.messages).toHaveLength(1)
  })
})

describeOneDatabase('an assignment email', (database) => {
  const open = setUp(database)

  test('an assignment email does not delay other emails about the error', async () => {
    const { log, assign, sendDue, rows } = await open({
      severity_thresholds: { email: 'low' },
      notification_environments: null,
      quiet_hours: null,
      notification_threshold_alerts: [2],
    })
    const id = await log('A')
    await sendDue()
    await assign(id, 'Ben')
    await log('A')
    await sendDue()
    expect((await rows()).map(({ event, state }) => [event, state])).toEqual([
      ['new', 'sent'],
      ['assigned', 'pending'],
      ['milestone', 'sent'],
    ])
  })

  test('an assignment email is sent to the address in the configuration first', async () => {
    const account = {
      name: 'Ben',
      role: 'viewer' as const,
      password_hash: 'scrypt:16384:8:5:b-ADeOP9ArlZJld1qSt9LA:sii5dRDOB8luu7IPoZbDHef1Y9YsM1W4uO1hS1Palk4',
    }
    const harness = await open({ dashboard_users: [{ ...account, email: 'account@shop.example' }] })
    await harness.assign(await harness.log('A'), 'Ben')
    expect((await harness.sentMails()).map(({ headers }) => headers.to)).toEqual(['account@shop.example'])
    const withoutEmail = await open({ dashboard_users: [account] })
    await withoutEmail.assign(await withoutEmail.log('A'), 'Ben')
    expect(await withoutEmail.rows()).toEqual([])
  })

  test('an assignment email is not stored while email is off', async () => {
    const { log, assign, rows } = await open({ enable_email_notifications: false })
    await assign(await log('A'), 'Ben')
    expect(await rows()).toEqual([])
  })

  test('an assignment email contains no header or link of a hostile name', async () => {
    const { log, assign, sentMails } = await open()
    const actor = 'Eve\r\nBcc: victim@evil.example\r\n\r\n<b>http://evil.example</b>'
    await assign(await log('A'), 'Ben', actor)
    const [mail] = await sentMails()
    expect(mail?.names).not.toContain('Bcc')
    expect(mail?.headers.to).toBe('ben@shop.example')
    expect(mail?.headers.subject).toContain('by Eve Bcc: victim@evil.example <b>http:\u200b//')
    expect(mail?.html).not.toContain('<b>')
  })
})
