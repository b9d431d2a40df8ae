import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { describeEachDatabase } from '../support/databases.js'
import { type Fields, NOW, type SpecHost, specHost } from './spec-host.js'

describeEachDatabase('resources and their fields', (database) => {
  let host: SpecHost

  beforeAll(async () => {
    host = await specHost(database, {
      custom_severity_rules: new Map<RegExp | string, 'critical' | 'high' | 'medium' | 'low'>([
        ['LegacyError', 'critical'],
        [/^Payment/, 'critical'],
        [/Declined$/, 'low'],
        [/^(?:Quiet|Loud)Error$/, 'medium'],
      ]),
    })
  })

  afterAll(() => host?.close())

  const log = async (fields: Fields) => {
    const logged = await host.tracker.Commands.LogError.call(fields)
    return host.record(logged?.id ?? 0)
  }

  describe('error record', () => {
    let crash: Fields

    beforeAll(async () => {
      crash = await host.record('crash')
    })

    test.each<[string, string, unknown]>([
      ['id', 'integer, used in :id path segments', expect.any(Number)],
      ['error_type', 'class/name of the error', 'AppCrash'],
      ['message', 'string', 'SIGABRT in CheckoutView'],
      ['backtrace', 'list of strings (lines)', ['CheckoutView.swift:22 submit()', 'UIKit tap']],
      ['platform', 'string', 'iOS'],
      ['app_version', 'version of the reporting app', '2.0'],
      ['git_sha', 'string', 'abc123'],
      ['user_id', 'identifier of the affected user', 'u-2'],
      ['request_url', 'string, without its secrets', 'https://api.example/checkout?token=[FILTERED]'],
      ['request_params', 'mapping, without its secrets', { cart: 7, password: '[FILTERED]' }],
      ['ip_address', 'string', '192.0.2.7'],
      ['user_agent', 'string', 'Shop/2.0 (iPhone)'],
      ['occurred_at', 'timestamp', '2026-05-19T08:00:00.000Z'],
      ['first_seen_at', 'timestamp of the oldest occurrence', '2026-05-19T08:00:00.000Z'],
      ['hash_signature', 'string, SHA-256 digest', expect.stringMatching(/^[0-9a-f]{64}$/)],
      ['occurrence_count', 'integer, starts at 1', 1],
      ['severity', 'enum', 'low'],
      ['status', 'workflow status', 'new'],
      ['priority_level', 'integer 0 to 4', 0],
      ['assigned_to', 'assignee identifier, initially null', null],
      ['resolved', 'boolean', false],
      ['resolved_by_name', 'string, initially null', null],
      ['resolution_comment', 'string, initially null', null],
      ['resolution_reference', 'URL of a change request or commit, initially null', null],
      ['snoozed', 'hide-until state', false],
      ['snoozed_until', 'hide-until state', null],
      ['application_id', 'reference to Application', expect.any(Number)],
      ['application_name', 'name of that application', 'shop'],
      ['comments', 'list of Comment', []],
      ['activities', 'list of user actions', []],
    ])('returns %s: %s', (field, _format, value) => {
      expect(crash[field]).toEqual(value)
    })

    test('truncates the backtrace to max_backtrace_lines (default 50)', async () => {
      const lines = Array.from({ length: 60 }, (_, i) => `at step${i} (/srv/app/src/long.ts:${i + 1}:1)`)
      const { backtrace } = await log({ error_type: 'DeepError', message: 'long', backtrace: lines })
      expect(backtrace).toHaveLength(50)
      expect((backtrace as string[])[0]).toContain('step0')
    })

    test.each([
      ['ios', 'iOS'],
      ['iOS', 'iOS'],
      ['android', 'Android'],
      ['web', 'Web'],
      ['api', 'API'],
      ['Toaster', 'Toaster'],
    ])('normalizes lowercase platforms (%s is %s)', async (sent, kept) => {
      expect(await log({ error_type: `Platform${sent}Error`, message: 'x', platform: sent })).toMatchObject({
        platform: kept,
      })
    })

    test('increments occurrence_count on each repeat without a new record', async () => {
      const first = await log({ error_type: 'RepeatError', message: 'Order 17 is late', occurred_at: NOW - 5000 })
      const second = await log({ error_type: 'RepeatError', message: 'Order 99 is late', occurred_at: NOW })
      expect(second).toMatchObject({
        id: first.id,
        hash_signature: first.hash_signature,
        occurrence_count: 2,
        first_seen_at: new Date(NOW - 5000).toISOString(),
        occurred_at: new Date(NOW).toISOString(),
      })
      expect((await host.read('/errors?error_type=RepeatError')).pagination).toMatchObject({ total_count: 1 })
    })

    test('creates one record for concurrent writes of a new error and counts all', async () => {
      const calls = Array.from({ length: 25 }, () =>
        host.tracker.Commands.LogError.call({ error_type: 'CrowdError', message: 'all at once' }),
      )
      const logged = await Promise.all(calls)
      expect(new Set(logged.map((record) => record?.id)).size).toBe(1)
      expect(await host.record(logged[0]?.id ?? 0)).toMatchObject({ occurrence_count: 25 })
    })

    test('moves first_seen_at but not occurred_at for a late occurrence', async () => {
      await log({ error_type: 'LateError', message: 'x', occurred_at: NOW - 1000 })
      expect(await log({ error_type: 'LateError', message: 'x', occurred_at: NOW - 9000 })).toMatchObject({
        occurred_at: new Date(NOW - 1000).toISOString(),
        first_seen_at: new Date(NOW - 9000).toISOString(),
      })
    })
  })

  describe('severity derivation', () => {
    test.each([
      ['a regular expression is matched against the error class name', { error_type: 'QuietError' }, 'medium'],
      ['the first matching rule wins', { error_type: 'PaymentDeclined' }, 'critical'],
      ['a later rule applies if earlier rules do not match', { error_type: 'CardDeclined' }, 'low'],
      ['string keys do not match', { error_type: 'LegacyError' }, 'low'],
      ['the message is not matched', { error_type: 'OtherError', message: 'PaymentDeclined' }, 'low'],
      ['an explicit severity wins', { error_type: 'PaymentLost', severity: 'medium' }, 'medium'],
      ['out of memory is critical', { error_type: 'OutOfMemoryError' }, 'critical'],
      ['programming errors are high', { error_type: 'ReferenceError' }, 'high'],
      ['timeouts are medium', { error_type: 'TimeoutError' }, 'medium'],
      ['the rest is low', { error_type: 'SomethingElse' }, 'low'],
    ])('derives the severity: %s', async (_rule, fields, severity) => {
      expect(await log({ message: `severity ${severity}`, ...fields })).toMatchObject({ severity })
    })
  })

  test('returns author_name and body of a comment', async () => {
    await host.post(`/errors/${host.ids.timeout}/add_comment`, { author_name: 'Bob', body: 'Known since May' })
    expect((await host.record('timeout')).comments).toEqual([
      { id: expect.any(Number), author_name: 'Bob', body: 'Known since May', created_at: new Date(NOW).toISOString() },
    ])
  })

  test('creates an application with a unique name on first use', async () => {
    expect(await host.tracker.Queries.Applications.call()).toEqual([{ id: expect.any(Number), name: 'shop' }])
  })
})
