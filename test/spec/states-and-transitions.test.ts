import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { describeEachDatabase } from '../support/databases.js'
import { DAY, HOUR, NOW, type SpecHost, specHost } from './spec-host.js'

const STATUSES = ['new', 'investigating', 'in_progress', 'resolved', 'wont_fix'] as const

describeEachDatabase('states and transitions', (database) => {
  let host: SpecHost
  let id: number
  let count = 0

  beforeAll(async () => {
    host = await specHost(database)
  })

  afterAll(() => host?.close())

  beforeEach(async () => {
    host.clock.now = NOW
    id = await logged()
  })

  const logged = async (error_type = `State${++count}Error`, occurred_at = host.clock.now) =>
    (await host.tracker.Commands.LogError.call({ error_type, message: 'x', occurred_at }))?.id ?? 0
  const post = async (action: string, form: Record<string, string> = {}) => {
    const response = await host.post(`/errors/${id}/${action}`, form)
    expect(response.status).toBe(302)
  }

  test.each([
    ['POST resolve', () => post('resolve', RESOLUTION)],
    [
      'batch_action with action_type resolve',
      () =>
        host.post('/errors/batch_action', {
          'error_ids[]': [String(id)],
          action_type: 'resolve',
          resolved_by_name: 'Ada',
          resolution_comment: 'Fixed in 1.2',
        }),
    ],
    [
      'the ResolveError command',
      () =>
        host.tracker.Commands.ResolveError.call({
          error_id: id,
          resolved_by: 'Ada',
          resolution_comment: 'Fixed in 1.2',
        }),
    ],
  ])('resolves an error by %s and stores the resolver and comment', async (_trigger, trigger) => {
    await trigger()
    expect(await host.record(id)).toMatchObject({
      resolved: true,
      status: 'resolved',
      resolved_at: new Date(NOW).toISOString(),
      resolved_by_name: 'Ada',
      resolution_comment: 'Fixed in 1.2',
    })
  })

  test('assigns an error by POST assign with assigned_to', async () => {
    for (const assigned_to of ['eve@example.org', 'bob@example.org']) {
      await post('assign', { assigned_to })
      expect(await host.record(id)).toMatchObject({ assigned_to })
    }
  })

  test('unassigns an error by POST unassign', async () => {
    await post('assign', { assigned_to: 'eve@example.org' })
    await post('unassign')
    expect(await host.record(id)).toMatchObject({ assigned_to: null })
  })

  test('sets the priority by POST update_priority with priority_level', async () => {
    for (const level of [4, 0, 2]) {
      await post('update_priority', { priority_level: String(level) })
      expect(await host.record(id)).toMatchObject({ priority_level: level })
    }
  })

  test('snoozes an error by POST snooze, stores the reason and hides the error with hide_snoozed', async () => {
    await post('snooze', { hours: '3', reason: 'Vendor' })
    expect(await host.record(id)).toMatchObject({
      snoozed: true,
      snoozed_until: new Date(NOW + 3 * HOUR).toISOString(),
      snooze_reason: 'Vendor',
    })
    expect(await host.listed('hide_snoozed=true&per_page=100')).not.toContain(String(id))
    expect(await host.listed('per_page=100')).toContain(String(id))
  })

  test('ends the snooze by POST unsnooze before it expires', async () => {
    await post('snooze', { hours: '3' })
    await post('unsnooze')
    expect(await host.record(id)).toMatchObject({ snoozed: false })
    expect(await host.listed('hide_snoozed=true&per_page=100')).toContain(String(id))
  })

  test('shows a snoozed error again when the duration has elapsed', async () => {
    await post('snooze', { hours: '1' })
    host.clock.now += HOUR - 1
    expect(await host.listed('hide_snoozed=true&per_page=100')).not.toContain(String(id))
    host.clock.now += 1
    expect(await host.listed('hide_snoozed=true&per_page=100')).toContain(String(id))
    expect(await host.record(id)).toMatchObject({ snoozed: false })
  })

  test.each(STATUSES.flatMap((from) => STATUSES.map((to) => [from, to] as const)))(
    'changes the status by POST update_status from %s to %s and derives resolved from it',
    async (from, to) => {
      await post('update_status', { status: from })
      await post('update_status', { status: to, comment: 'moved' })
      const { status, resolved, activities } = await host.record(id)
      expect({ status, resolved }).toEqual({ status: to, resolved: to === 'resolved' || to === 'wont_fix' })
      expect((activities as object[]).at(-1)).toMatchObject({ from_value: from, to_value: to, comment: 'moved' })
    },
  )

  test.each([
    [
      'batch_action with action_type delete',
      () => host.post('/errors/batch_action', { 'error_ids[]': [String(id)], action_type: 'delete' }),
    ],
    ['the BatchDeleteErrors command', () => host.tracker.Commands.BatchDeleteErrors.call({ error_ids: [id] })],
  ])('deletes an error by %s', async (_trigger, trigger) => {
    await trigger()
    expect((await host.get(`/errors/${id}`)).status).toBe(404)
  })

  test('deletes an error older than retention_days by retention cleanup, also run manually', async () => {
    const old = await logged('OldError', NOW - 91 * DAY)
    const kept = await logged('KeptError', NOW - 89 * DAY)
    expect(await host.tracker.Commands.CleanupErrors.call()).toMatchObject({ deleted: 1 })
    expect((await host.get(`/errors/${old}`)).status).toBe(404)
    expect((await host.get(`/errors/${kept}`)).status).toBe(200)
  })

  test('reopens a resolved error on recurrence and keeps the resolver in the activity trail', async () => {
    const error_type = `State${count}Error`
    await post('resolve', RESOLUTION)
    host.clock.now += HOUR
    expect(await logged(error_type)).toBe(id)
    const record = await host.record(id)
    expect(record).toMatchObject({
      resolved: false,
      status: 'new',
      occurrence_count: 2,
      reopened_at: new Date(NOW + HOUR).toISOString(),
    })
    expect(JSON.stringify(record.activities)).toContain('Ada')
  })

  test('keeps a wont_fix error closed and counts its occurrences', async () => {
    const error_type = `State${count}Error`
    await post('update_status', { status: 'wont_fix' })
    await logged(error_type)
    expect(await host.record(id)).toMatchObject({ resolved: true, status: 'wont_fix', occurrence_count: 2 })
  })

  test('changes status, assignment, priority and snooze independently', async () => {
    await post('assign', { assigned_to: 'eve@example.org' })
    await post('update_priority', { priority_level: '3' })
    await post('snooze', { hours: '5' })
    await post('update_status', { status: 'in_progress' })
    expect(await host.record(id)).toMatchObject({
      assigned_to: 'eve@example.org',
      priority_level: 3,
      snoozed: true,
      status: 'in_progress',
      resolved: false,
    })
  })

  test('adds actor, action and time of every change to the activity trail', async () => {
    await post('assign', { assigned_to: 'eve@example.org' })
    await post('update_priority', { priority_level: '3' })
    await post('snooze', { hours: '5', reason: 'Vendor' })
    await post('unsnooze')
    await post('resolve', RESOLUTION)
    const { activities } = await host.record(id)
    const rows = activities as { actor: string; created_at: string }[]
    expect(rows.map(({ actor }) => actor)).toEqual(['admin', 'admin', 'admin', 'admin', 'Ada'])
    expect(new Set(rows.map(({ created_at }) => created_at))).toEqual(new Set([new Date(NOW).toISOString()]))
  })
})

const RESOLUTION = {
  resolved_by_name: 'Ada',
  resolution_comment: 'Fixed in 1.2',
  resolution_reference: 'https://git.example/pull/7',
}
