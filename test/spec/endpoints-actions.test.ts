import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { describeEachDatabase } from '../support/databases.js'
import { signIn } from '../support/host.js'
import { HOUR, NOW, type SpecHost, specHost, UNKNOWN_IDS } from './spec-host.js'

describeEachDatabase('POST actions', (database) => {
  let host: SpecHost

  beforeAll(async () => {
    host = await specHost(database)
  })

  afterAll(() => host?.close())

  beforeEach(() => {
    host.clock.now = NOW
  })

  const at = (name: keyof SpecHost['ids'], action: string) => `/errors/${host.ids[name]}/${action}`

  test('resolves with optional resolved_by_name, resolution_comment and resolution_reference', async () => {
    const response = await host.post(at('type', 'resolve'), {
      resolved_by_name: 'Ada',
      resolution_comment: 'Guarded the empty cart',
      resolution_reference: 'https://git.example/pull/7',
    })
    expect(response.status).toBe(302)
    expect(response.headers.get('location')).toBe(`/error_dashboard/errors/${host.ids.type}`)
    expect(await host.record('type')).toMatchObject({
      resolved: true,
      status: 'resolved',
      resolved_by_name: 'Ada',
      resolution_comment: 'Guarded the empty cart',
      resolution_reference: 'https://git.example/pull/7',
      resolved_at: new Date(NOW).toISOString(),
    })
    expect(await host.listed('unresolved=true')).not.toContain('type')
    expect(await host.listed('unresolved=false')).toContain('type')
    expect(await host.listed('status=resolved')).toEqual(['type'])
  })

  test('records the signed-in user as resolver without parameters', async () => {
    expect((await host.post(at('memory', 'resolve'))).status).toBe(302)
    expect(await host.record('memory')).toMatchObject({ resolved: true, resolved_by_name: 'admin' })
  })

  test('updates the status with an optional comment and reopens with an open status', async () => {
    const form = { status: 'investigating', comment: 'Back again' }
    expect((await host.post(at('memory', 'update_status'), form)).status).toBe(302)
    const after = await host.record('memory')
    expect(after).toMatchObject({ resolved: false, status: 'investigating', resolved_by_name: null })
    expect(after.activities).toMatchObject([
      { action: 'resolved', actor: 'admin' },
      {
        action: 'status_changed',
        actor: 'admin',
        from_value: 'resolved',
        to_value: 'investigating',
        comment: 'Back again',
      },
    ])
    expect(await host.listed('status=investigating')).toEqual(['memory'])
  })

  test('assigns with assigned_to and unassigns without parameters', async () => {
    expect((await host.post(at('crash', 'assign'), { assigned_to: 'eve@example.org' })).status).toBe(302)
    expect(await host.listed('assigned_to=eve@example.org')).toEqual(['crash'])
    expect((await host.record('crash')).status).toBe('new')
    expect((await host.post(at('crash', 'unassign'))).status).toBe(302)
    expect(await host.record('crash')).toMatchObject({ assigned_to: null })
    expect(await host.listed('assigned_to=eve@example.org')).toEqual([])
  })

  test.each([0, 1, 2, 3, 4])('sets priority_level from 0 to 4 (%i)', async (level) => {
    expect((await host.post(at('crash', 'update_priority'), { priority_level: String(level) })).status).toBe(302)
    expect(await host.record('crash')).toMatchObject({ priority_level: level })
    expect(await host.listed(`priority_level=${level}`)).toContain('crash')
  })

  test('snoozes with hours and an optional reason, and unsnoozes without parameters', async () => {
    const form = { hours: '2', reason: 'Waiting for the vendor' }
    expect((await host.post(at('timeout', 'snooze'), form)).status).toBe(302)
    expect(await host.listed('hide_snoozed=true')).not.toContain('timeout')
    expect(await host.listed('hide_snoozed=false')).toContain('timeout')
    expect(await host.record('timeout')).toMatchObject({
      snoozed: true,
      snooze_reason: 'Waiting for the vendor',
      snoozed_until: new Date(NOW + 2 * HOUR).toISOString(),
    })
    expect((await host.post(at('timeout', 'unsnooze'))).status).toBe(302)
    expect(await host.listed('hide_snoozed=true')).toContain('timeout')
  })

  test('mutes with optional hours, reason and muted_by_name, and unmutes without parameters', async () => {
    const form = { hours: '8', reason: 'The provider is down', muted_by_name: 'Anna' }
    const response = await host.post(at('timeout', 'mute'), form)
    expect(response.status).toBe(302)
    expect(decodeURIComponent(response.headers.get('set-cookie') ?? '')).toContain('Muted for 8 hours.')
    expect(await host.record('timeout')).toMatchObject({
      muted: true,
      muted_at: new Date(NOW).toISOString(),
      muted_until: new Date(NOW + 8 * HOUR).toISOString(),
      muted_by_name: 'Anna',
      mute_reason: 'The provider is down',
    })
    expect(await host.listed('hide_snoozed=true')).toContain('timeout')
    const page = await (await host.get(`/errors/${host.ids.timeout}`)).text()
    expect(page).toMatch(/muted until <time[^>]*>20 May 2026, 20:00:00 UTC<\/time>, by Anna/)
    expect(page).toContain('Reason: The provider is down')
    expect(await (await host.get('/errors')).text()).toMatch(/Muted by Anna[^"]*">\s*muted, ends <time/)
    expect((await host.post(at('timeout', 'unmute'))).status).toBe(302)
    expect(await host.record('timeout')).toMatchObject({ muted: false, muted_at: null, mute_reason: null })

    expect((await host.post(at('timeout', 'mute'))).status).toBe(302)
    expect(await host.record('timeout')).toMatchObject({ muted: true, muted_until: null, muted_by_name: 'admin' })
    expect((await host.post(at('timeout', 'unmute'))).status).toBe(302)
  })

  test('adds a comment with author_name and body', async () => {
    const form = { author_name: 'Bob', body: 'Seen on iOS 19 only' }
    expect((await host.post(at('crash', 'add_comment'), form)).status).toBe(302)
    expect((await host.record('crash')).comments).toMatchObject([form])
  })

  test.each([
    ['assign', {}, 'assigned_to is missing'],
    ['assign', { assigned_to: '  ' }, 'assigned_to must not be empty'],
    ['update_priority', {}, 'priority_level is missing'],
    ['update_priority', { priority_level: '5' }, 'priority_level must be a whole number from 0 to 4'],
    ['update_priority', { priority_level: '-1' }, 'priority_level must be'],
    ['update_priority', { priority_level: 'high' }, 'priority_level must be'],
    ['snooze', { reason: 'x' }, 'hours is missing'],
    ['snooze', { hours: '0' }, 'hours must be a whole number from 1 to 8760'],
    ['snooze', { hours: '8761' }, 'hours must be'],
    ['snooze', { hours: '1.5' }, 'hours must be'],
    ['mute', { hours: '0' }, 'hours must be a whole number from 1 to 8760'],
    ['mute', { muted_by_name: 'B'.repeat(256) }, 'muted_by_name must not be longer than 255 characters'],
    ['update_status', {}, 'status is missing'],
    ['update_status', { status: 'done' }, 'status must be one of new, investigating, in_progress, resolved, wont_fix'],
    ['add_comment', { author_name: 'Bob' }, 'body is missing'],
    ['add_comment', { body: 'x' }, 'author_name is missing'],
    ['add_comment', { author_name: 'Bob', body: 'x'.repeat(10_001) }, 'body must not be longer than 10000 characters'],
    ['add_comment', { author_name: 'B'.repeat(256), body: 'x' }, 'author_name must not be longer than 255 characters'],
  ])('returns 422 for %s and changes nothing: $2', async (action, form, sentence) => {
    const before = await host.record('crash')
    const { status, error } = await host.refusal(at('crash', action), form as Record<string, string>)
    expect(status).toBe(422)
    expect(error).toContain(sentence)
    expect(await host.record('crash')).toEqual(before)
  })

  test.each([
    ['resolve', {}],
    ['assign', { assigned_to: 'eve' }],
    ['unassign', {}],
    ['update_priority', { priority_level: '1' }],
    ['snooze', { hours: '1' }],
    ['unsnooze', {}],
    ['mute', {}],
    ['unmute', {}],
    ['update_status', { status: 'new' }],
    ['add_comment', { author_name: 'Bob', body: 'x' }],
  ])('returns 404 for %s of an unknown error', async (action, form) => {
    for (const id of UNKNOWN_IDS) {
      expect((await host.post(`/errors/${id}/${action}`, form as Record<string, string>)).status).toBe(404)
    }
  })

  test('accepts form-encoded parameters only', async () => {
    const response = await fetch(`${host.origin}/error_dashboard${at('crash', 'assign')}`, {
      method: 'POST',
      redirect: 'manual',
      headers: { ...signIn(), 'content-type': 'application/json', accept: 'application/json' },
      body: JSON.stringify({ assigned_to: 'mallory' }),
    })
    expect(response.status).toBe(422)
    expect(await response.json()).toEqual({ error: expect.stringContaining('form-encoded') })
    expect((await host.record('crash')).assigned_to).not.toBe('mallory')
  })

  test('shows the message of an action once', async () => {
    const response = await host.post(at('crash', 'assign'), { assigned_to: 'eve@example.org' })
    const cookie = response.headers.get('set-cookie')?.split(';')[0] ?? ''
    const page = await host.get(`/errors/${host.ids.crash}`, { cookie })
    expect(await page.text()).toContain('Assigned to eve@example.org.')
    expect(page.headers.get('set-cookie')).toContain('Max-Age=0')
  })

  describe('POST errors/batch_action', () => {
    test('resolves several errors, and skips and counts unknown ids', async () => {
      const response = await host.post('/errors/batch_action', {
        'error_ids[]': [String(host.ids.crash), String(host.ids.timeout), '999999'],
        action_type: 'resolve',
        resolved_by_name: 'Ada',
        resolution_comment: 'Sweep',
      })
      expect(response.status).toBe(302)
      expect(response.headers.get('location')).toBe('/error_dashboard/errors')
      expect(decodeURIComponent(response.headers.get('set-cookie') ?? '')).toContain('2 errors resolved, 1 not found.')
      expect(await host.record('crash')).toMatchObject({
        resolved: true,
        resolved_by_name: 'Ada',
        resolution_comment: 'Sweep',
      })
      expect(await host.record('timeout')).toMatchObject({ resolved: true })
    })

    test.each([
      [{}, 'action_type is missing'],
      [{ action_type: 'delete' }, 'error_ids is missing'],
      [{ 'error_ids[]': ['1'] }, 'action_type is missing'],
      [{ 'error_ids[]': ['1'], action_type: 'explode' }, 'action_type must be one of resolve, '],
      [{ 'error_ids[]': ['one'], action_type: 'delete' }, 'error_ids.0 must be'],
      [
        { 'error_ids[]': Array.from({ length: 1001 }, (_, i) => String(i + 1)), action_type: 'delete' },
        'must not contain more than 1000 error ids',
      ],
    ])('rejects invalid batch parameters: $1', async (form, sentence) => {
      const { status, error } = await host.refusal('/errors/batch_action', form as unknown as Record<string, string[]>)
      expect(status).toBe(422)
      expect(error).toContain(sentence)
    })

    test('deletes several errors with all their data', async () => {
      const before = Number((await host.read('/overview')).total_occurrences)
      const response = await host.post('/errors/batch_action', {
        'error_ids[]': [String(host.ids.crash)],
        action_type: 'delete',
      })
      expect(response.status).toBe(302)
      expect((await host.get(`/errors/${host.ids.crash}`)).status).toBe(404)
      expect((await host.read('/overview')).total_occurrences).toBe(before - 1)
    })
  })
})
