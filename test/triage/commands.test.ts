import { expect, test } from 'vitest'
import type { TrackerInstance } from '../../src/tracker.js'
import { describeEachDatabase } from '../support/databases.js'
import { freshTracker, NOON } from '../support/tracker.js'

const HOUR = 3_600_000

async function logged(tracker: TrackerInstance, error_type = 'CartError'): Promise<number> {
  return (await tracker.Commands.LogError.call({ error_type, message: 'Empty' }))?.id ?? 0
}

describeEachDatabase('triage commands', (database) => {
  async function setUp() {
    const { tracker, clock } = await freshTracker(database)
    const error_id = await logged(tracker)
    clock.now = NOON + HOUR
    const find = () => tracker.Queries.FindError.call({ error_id })
    const trail = async () => (await find()).activities.map(({ id: _, created_at: __, ...activity }) => activity)
    const later = () => {
      clock.now = (clock.now ?? NOON) + HOUR
    }
    return { tracker, clock, later, error_id, find, trail, commands: tracker.Commands }
  }

  test('stores name, comment and reference with ResolveError', async () => {
    const { commands, error_id, find, trail } = await setUp()
    await commands.ResolveError.call({
      error_id,
      resolved_by: 'Anna',
      resolution_comment: 'Fixed the price',
      resolution_reference: 'https://git.example/pull/5',
      actor: 'admin',
    })
    expect(await find()).toMatchObject({
      resolved: true,
      status: 'resolved',
      resolved_at: new Date(NOON + HOUR).toISOString(),
      resolved_by_name: 'Anna',
      resolution_comment: 'Fixed the price',
      resolution_reference: 'https://git.example/pull/5',
    })
    expect(await trail()).toEqual([
      {
        actor: 'Anna',
        action: 'resolved',
        from_value: 'new',
        to_value: 'resolved',
        comment: 'Fixed the price\nhttps://git.example/pull/5',
      },
    ])
  })

  test('records the actor as resolver if ResolveError is called without a name', async () => {
    const { commands, error_id, find, trail } = await setUp()
    await commands.ResolveError.call({ error_id: String(error_id), actor: 'admin' })
    expect(await find()).toMatchObject({ resolved: true, resolved_by_name: 'admin', resolution_comment: null })
    expect(await trail()).toMatchObject([{ actor: 'admin', comment: null }])
  })

  test('changes only the assignee with AssignError and UnassignError', async () => {
    const { commands, error_id, find, trail } = await setUp()
    const before = await find()
    await commands.AssignError.call({ error_id, assigned_to: 'anna@shop.example', actor: 'admin' })
    expect(await find()).toMatchObject({ status: before.status, resolved: false, assigned_to: 'anna@shop.example' })
    await commands.AssignError.call({ error_id, assigned_to: 'bert@shop.example' })
    await commands.UnassignError.call({ error_id, actor: 'admin' })
    const { activities: _, ...after } = await find()
    const { activities: __, ...rest } = before
    expect(after).toEqual(rest)
    expect(await trail()).toEqual([
      { actor: 'admin', action: 'assigned', from_value: null, to_value: 'anna@shop.example', comment: null },
      {
        actor: 'system',
        action: 'assigned',
        from_value: 'anna@shop.example',
        to_value: 'bert@shop.example',
        comment: null,
      },
      { actor: 'admin', action: 'unassigned', from_value: 'bert@shop.example', to_value: null, comment: null },
    ])
  })

  test('sets each level from 0 to 4 with UpdatePriority, as number or text', async () => {
    const { commands, error_id, find, trail } = await setUp()
    for (const priority_level of [4, '3', 2, '1', 0]) {
      await commands.UpdatePriority.call({ error_id, priority_level, actor: 'admin' })
      expect((await find()).priority_level).toBe(Number(priority_level))
    }
    expect((await trail()).map(({ action, from_value, to_value }) => [action, from_value, to_value])).toEqual([
      ['priority_changed', 'none', 'critical'],
      ['priority_changed', 'critical', 'high'],
      ['priority_changed', 'high', 'medium'],
      ['priority_changed', 'medium', 'low'],
      ['priority_changed', 'low', 'none'],
    ])
  })

  test('snoozes for the given hours with SnoozeError and ends the snooze with UnsnoozeError', async () => {
    const { commands, error_id, find, trail } = await setUp()
    const until = new Date(NOON + HOUR + 24 * HOUR).toISOString()
    await commands.SnoozeError.call({ error_id, hours: 24, reason: 'Vendor is on it', actor: 'admin' })
    expect(await find()).toMatchObject({
      snoozed: true,
      snoozed_until: until,
      snooze_reason: 'Vendor is on it',
      status: 'new',
    })
    await commands.UnsnoozeError.call({ error_id, actor: 'admin' })
    expect(await find()).toMatchObject({ snoozed: false, snoozed_until: null, snooze_reason: null })
    expect(await trail()).toEqual([
      { actor: 'admin', action: 'snoozed', from_value: null, to_value: until, comment: 'Vendor is on it' },
      { actor: 'admin', action: 'unsnoozed', from_value: until, to_value: null, comment: null },
    ])
  })

  test('accepts snoozes from 1 to 8760 hours', async () => {
    const { commands, error_id, find } = await setUp()
    for (const hours of [1, 8760]) {
      await commands.SnoozeError.call({ error_id, hours })
      expect((await find()).snoozed_until).toBe(new Date(NOON + HOUR + hours * HOUR).toISOString())
    }
  })

  test('moves between any two statuses with UpdateStatus, and resolved is true exactly for resolved and wont_fix', async () => {
    const { commands, error_id, find, clock, trail } = await setUp()
    const statuses = ['new', 'investigating', 'in_progress', 'resolved', 'wont_fix'] as const
    let moves = 0
    for (const from of statuses) {
      for (const to of statuses) {
        await commands.UpdateStatus.call({ error_id, status: from })
        clock.now = NOON + ++moves * HOUR
        await commands.UpdateStatus.call({ error_id, status: to, comment: `from ${from}`, actor: 'Anna' })
        const error = await find()
        const isClosed = to === 'resolved' || to === 'wont_fix'
        expect(error).toMatchObject({ status: to, resolved: isClosed })
        expect(error.resolved_at !== null).toBe(isClosed)
        expect(error.resolved_by_name !== null).toBe(isClosed)
        expect((await trail()).at(-1)).toEqual({
          actor: 'Anna',
          action: 'status_changed',
          from_value: from,
          to_value: to,
          comment: `from ${from}`,
        })
      }
    }
  })

  test('reopens a resolved error with an open status and keeps the resolution in the trail', async () => {
    const { commands, error_id, find, trail } = await setUp()
    await commands.ResolveError.call({ error_id, resolved_by: 'Anna', resolution_comment: 'Fixed' })
    await commands.UpdateStatus.call({ error_id, status: 'investigating', actor: 'Bert' })
    expect(await find()).toMatchObject({
      resolved: false,
      status: 'investigating',
      resolved_at: null,
      resolved_by_name: null,
      resolution_comment: null,
      reopened_at: new Date(NOON + HOUR).toISOString(),
    })
    expect(await trail()).toMatchObject([{ actor: 'Anna', action: 'resolved', comment: 'Fixed' }, { actor: 'Bert' }])
  })

  test('changes nothing and adds no activity if the error already has the requested state', async () => {
    const { commands, later, error_id, find, trail } = await setUp()
    const again = async (command: () => Promise<{ changed: boolean }>, changed_at_first = true) => {
      expect(await command()).toEqual({ changed: changed_at_first })
      later()
      const before = await find()
      expect(await command()).toEqual({ changed: false })
      expect(await find()).toEqual(before)
    }
    await again(() => commands.UnassignError.call({ error_id }), false)
    await again(() => commands.AssignError.call({ error_id, assigned_to: 'Anna' }))
    await again(() => commands.UpdatePriority.call({ error_id, priority_level: 4 }))
    await again(() => commands.UnsnoozeError.call({ error_id }), false)
    await commands.SnoozeError.call({ error_id, hours: 9 })
    await again(() => commands.UnsnoozeError.call({ error_id }))
    await again(() => commands.UpdateStatus.call({ error_id, status: 'in_progress' }))
    await again(() => commands.ResolveError.call({ error_id, resolution_comment: 'Fixed' }))
    await again(() => commands.UpdateStatus.call({ error_id, status: 'resolved' }), false)
    expect((await trail()).map(({ action }) => action)).toEqual([
      'assigned',
      'priority_changed',
      'snoozed',
      'unsnoozed',
      'status_changed',
      'resolved',
    ])
  })

  test('keeps the resolver and time when ResolveError adds a comment', async () => {
    const { commands, later, error_id, find, trail } = await setUp()
    await commands.ResolveError.call({ error_id, resolved_by: 'Anna', resolution_comment: 'Fixed' })
    const { resolved_at } = await find()
    later()
    const reference = { resolved_by: 'Bert', resolution_reference: 'https://git.example/pull/5' }
    expect(await commands.ResolveError.call({ error_id, ...reference })).toEqual({ changed: true })
    expect(await find()).toMatchObject({
      resolved_at,
      resolved_by_name: 'Anna',
      resolution_comment: 'Fixed',
      resolution_reference: 'https://git.example/pull/5',
    })
    expect((await trail()).at(-1)).toMatchObject({ actor: 'Bert', action: 'resolved', from_value: 'resolved' })
    expect(await commands.UpdateStatus.call({ error_id, status: 'resolved', comment: 'Sure' })).toEqual({
      changed: true,
    })
  })

  test('keeps comments in order with AddComment and adds each to the trail', async () => {
    const { commands, error_id, find, trail } = await setUp()
    await commands.AddComment.call({ error_id, author_name: 'Anna', body: 'Grüße 👋\n<b>bold</b>' })
    await commands.AddComment.call({ error_id, author_name: 'Bert', body: 'x'.repeat(10_000) })
    expect((await find()).comments).toMatchObject([
      { author_name: 'Anna', body: 'Grüße 👋\n<b>bold</b>', created_at: new Date(NOON + HOUR).toISOString() },
      { author_name: 'Bert', body: 'x'.repeat(10_000) },
    ])
    expect(await trail()).toMatchObject([
      { actor: 'Anna', action: 'commented' },
      { actor: 'Bert', action: 'commented' },
    ])
  })

  test('reopens a resolved error on recurrence, but not a wont_fix error', async () => {
    const { tracker, clock, error_id, find } = await setUp()
    await tracker.Commands.ResolveError.call({ error_id, resolved_by: 'Anna' })
    clock.now = NOON + 2 * HOUR
    expect(await tracker.Commands.LogError.call({ error_type: 'CartError', message: 'Empty' })).toMatchObject({
      reopened: true,
    })
    expect(await find()).toMatchObject({
      status: 'new',
      resolved: false,
      reopened_at: new Date(NOON + 2 * HOUR).toISOString(),
    })
    await tracker.Commands.UpdateStatus.call({ error_id, status: 'wont_fix' })
    clock.now = NOON + 3 * HOUR
    expect(await tracker.Commands.LogError.call({ error_type: 'CartError', message: 'Empty' })).toMatchObject({
      reopened: false,
    })
    expect(await find()).toMatchObject({ status: 'wont_fix', resolved: true, occurrence_count: 3 })
  })
})
