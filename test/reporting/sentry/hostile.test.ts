import { createServer } from 'node:http'
import express from 'express'
import fc from 'fast-check'
import { describe, expect, onTestFinished, test } from 'vitest'
import { MalformedEnvelope, parseEnvelope } from '../../../src/reporting/sentry/envelope.js'
import { toForeignError } from '../../../src/reporting/sentry/event.js'
import { readBacktrace } from '../../../src/reporting/sentry/frames.js'
import { sentryIntake } from '../../../src/reporting/sentry/intake.js'
import { parseRelease } from '../../../src/reporting/sentry/release.js'
import type { Json } from '../../../src/reporting/sentry/values.js'
import { startListening } from '../../support/host.js'
import { freshTracker, NOON } from '../../support/tracker.js'
import { intakeHost, KEY, ON_SQLITE } from './intake-host.js'

const SCRIPT = '<script>alert(1)</script>"><img src=x onerror=alert(2)>\u2028\0\ud800'
const RECEIVED = { now: NOON, project_id: '1', event_id: 'a'.repeat(32) }

/** Arbitrary values in the fields that SDKs send. */
const arbitraryValue = fc.oneof(
  { weight: 3, arbitrary: fc.jsonValue({ maxDepth: 4 }) },
  fc.constantFrom(SCRIPT, 1e308, -1, 0, 7, [[]]),
)
const frame = fc.record(
  { function: arbitraryValue, filename: arbitraryValue, abs_path: arbitraryValue, module: arbitraryValue, package: arbitraryValue, lineno: arbitraryValue,
    colno: arbitraryValue, in_app: arbitraryValue, instruction_addr: arbitraryValue, context_line: arbitraryValue,
    pre_context: fc.oneof(arbitraryValue, fc.array(arbitraryValue)), post_context: fc.oneof(arbitraryValue, fc.array(arbitraryValue)) },
  { requiredKeys: [] },
) // biome-ignore format: a word list reads best as lines of words
const exception = fc.record(
  { type: arbitraryValue, value: arbitraryValue, mechanism: fc.oneof(arbitraryValue, fc.record({ exception_id: fc.nat(3), parent_id: fc.nat(3), source: arbitraryValue, is_exception_group: fc.boolean() })),
    stacktrace: fc.oneof(arbitraryValue, fc.record({ frames: fc.array(frame) })) },
  { requiredKeys: [] },
) // biome-ignore format: a word list reads best as lines of words
const event = fc.record(
  { exception: fc.oneof(arbitraryValue, fc.record({ values: fc.array(exception) }), fc.array(exception)), message: arbitraryValue,
    logentry: arbitraryValue, platform: arbitraryValue, level: arbitraryValue, timestamp: arbitraryValue, release: arbitraryValue, dist: arbitraryValue,
    environment: arbitraryValue, sdk: arbitraryValue, user: arbitraryValue, tags: arbitraryValue, extra: arbitraryValue, contexts: arbitraryValue,
    request: arbitraryValue, breadcrumbs: arbitraryValue, fingerprint: arbitraryValue, threads: arbitraryValue, server_name: arbitraryValue },
  { requiredKeys: [] },
) // biome-ignore format: a word list reads best as lines of words

describe('Arbitrary input', () => {
  test('arbitrary input is parsed as an envelope or rejected', () => {
    const pieces = fc.oneof(
      fc.constantFrom(
        '{}',
        '\n',
        '{"type":"event"}',
        '{"type":"event","length":3}',
        '\r\n',
        '{"length":9e99}',
        'null',
        '"',
      ),
      fc.string(),
    )
    fc.assert(
      fc.property(
        fc.oneof(
          fc.uint8Array(),
          fc.array(pieces).map((all) => Buffer.from(all.join(''))),
        ),
        (bytes) => {
          try {
            const { items } = parseEnvelope(Buffer.from(bytes))
            for (const { payload } of items) expect(payload.length).toBeLessThanOrEqual(bytes.length)
          } catch (error) {
            expect(error).toBeInstanceOf(MalformedEnvelope)
          }
        },
      ),
      { numRuns: 1000 },
    )
  })

  test('arbitrary input never makes the event conversion throw', () => {
    fc.assert(
      fc.property(event, (given) => {
        const error = toForeignError(given as Json, RECEIVED)
        if (error === null) return
        expect(error.backtrace.every((line) => line.startsWith('at ') && !line.includes('\n'))).toBe(true)
        expect(Number.isFinite(error.occurred_at)).toBe(true)
        for (const { first, lines } of error.frame_sources ?? []) {
          expect(Number.isSafeInteger(first) && first >= 1 && lines.length <= 21).toBe(true)
          expect(lines.every((line) => !/[\r\n\u2028\u2029]/.test(line))).toBe(true)
        }
        for (const crumb of error.breadcrumbs ?? []) expect(Number.isFinite(crumb.occurred_at)).toBe(true)
      }),
      { numRuns: 300 },
    )
  })

  test('arbitrary input is recorded and shown without breaking a page', async () => {
    const host = await intakeHost(ON_SQLITE)
    for (const given of fc.sample(event, { numRuns: 60, seed: 7 })) expect((await host.event(given)).status).toBe(200)
    await host.event(scripted())
    await host.tracker.flush()
    const errors = await host.tracker.Queries.ErrorsList.call({ per_page: 100 })
    expect(errors.length).toBeGreaterThan(10)
    const headers = { authorization: `Basic ${btoa('admin:correct horse')}`, accept: 'text/html' }
    for (const { id } of errors) {
      const page = await host.tracker.handle(new Request(`http://host/errors/${id}`, { headers }), {
        base: '',
        path: `/errors/${id}`,
        remote_address: '127.0.0.1',
      })
      expect([page.status, host.lines]).toEqual([200, []])
      const html = await page.text()
      expect(html).not.toMatch(/<script>alert|<img src=x/)
    }
    expect(JSON.stringify((await host.tracker.stats()).dropped)).not.toContain('failed')
  })

  test('arbitrary input cannot change a prototype', async () => {
    const host = await intakeHost(ON_SQLITE)
    await host.send(
      '{}\n{"type":"event"}\n{"message":"polluted","__proto__":{"polluted":1},"tags":{"__proto__":{"polluted":1}},"extra":{"constructor":{"prototype":{"polluted":1}}},"contexts":{"__proto__":{"polluted":1}}}\n',
    )
    expect((await host.find('polluted')).error_type).toBe('Message')
    expect(({} as Record<string, unknown>).polluted).toBeUndefined()
  })

  test('arbitrary input is processed in bounded time regardless of depth and length', async () => {
    const host = await intakeHost(ON_SQLITE)
    const deep = `${'{"a":'.repeat(50_000)}1${'}'.repeat(50_000)}`
    expect((await host.send(`{}\n{"type":"event"}\n{"message":"deep","extra":${deep}}\n`)).status).toBe(400)
    const frames = Array.from({ length: 5000 }, (_, lineno) => ({
      function: 'f'.repeat(100),
      filename: 'a.js',
      lineno,
    }))
    await host.event({ exception: { values: [{ type: 'Long', value: 'long', stacktrace: { frames } }] } })
    const long = await host.find('long')
    expect(long.backtrace).toHaveLength(50)
    expect(long.backtrace[0]).toContain('a.js:4999')
  })

  test('accepts an exception that is its own cause', async () => {
    const mechanism = { exception_id: 0, parent_id: 0 }
    const values = [
      { type: 'A', mechanism },
      { type: 'B', mechanism },
    ]
    expect(toForeignError({ exception: { values } }, RECEIVED)?.causes).toMatchObject([{ error_type: 'A' }])
  })
})

describe('Conversion of an event', () => {
  test.each([
    ['shop@2.4.0+118', { app_version: '2.4.0', build: '118' }],
    ['2.4.0', { app_version: '2.4.0' }],
    ['v2.4.0+a1b2c3d', { app_version: 'v2.4.0', git_sha: 'a1b2c3d' }],
    ['shop@A1B2C3D4E5F60718293A4B5C6D7E8F9001122334', { git_sha: 'a1b2c3d4e5f60718293a4b5c6d7e8f9001122334' }],
    ['1234567', { app_version: '1234567' }],
    ['@scope/shop@1.0.0', { app_version: '1.0.0' }],
    ['spring release', { app_version: 'spring release' }],
    ['', {}],
  ])('parses the release %s', (name, release) => {
    expect(parseRelease(name)).toEqual(release)
  })

  test('converts a frame to a line that marks library code', () => {
    const frames = [
      { function: 'main', filename: 'main.go', abs_path: '/src/main.go', lineno: 9, in_app: true },
      { function: '?', abs_path: 'https://shop.example/app.js', lineno: 1, colno: 2, in_app: true },
      { function: 'run', filename: 'node:internal/timers', lineno: 3, in_app: false },
      { function: 'get', filename: '/srv/node_modules/express/index.js', lineno: 4, in_app: false },
      { function: 'call', filename: 'gems/rack/handler.rb', lineno: 5, in_app: false },
      { instruction_addr: '0x1f' },
    ]
    expect(readBacktrace({ frames })).toEqual([
      'at <unknown> (unknown)',
      'at call (gems/rack/handler.rb:5) [library]',
      'at get (/srv/node_modules/express/index.js:4)',
      'at run (node:internal/timers:3)',
      'at https://shop.example/app.js:1:2',
      'at main (/src/main.go:9)',
    ])
  })
})

function scripted(): object {
  return {
    message: SCRIPT,
    exception: {
      values: [{ type: SCRIPT, value: SCRIPT, stacktrace: { frames: [{ function: SCRIPT, filename: SCRIPT }] } }],
    },
    tags: { [SCRIPT]: SCRIPT },
    contexts: { [SCRIPT]: { [SCRIPT]: SCRIPT }, trace: { trace_id: 'f'.repeat(32), span_id: SCRIPT } },
    breadcrumbs: [{ category: SCRIPT, message: SCRIPT, data: { url: `javascript:${SCRIPT}` } }],
    request: { url: `javascript:${SCRIPT}`, method: SCRIPT, headers: { Referer: SCRIPT } },
    release: SCRIPT,
    environment: SCRIPT,
    server_name: SCRIPT,
    user: { id: SCRIPT },
  }
}

describe('Unusual envelopes', () => {
  test('unusual envelopes are parsed as far as possible without a server error', async () => {
    const host = await intakeHost(ON_SQLITE)
    expect((await host.send('{}\n{"type":{"toString":1}}\n{}')).status).toBe(200)
    expect((await host.tracker.stats()).dropped).toEqual({ 'sentry_dropped: other': 1 })
    const nested = `{}\n{"type":"event"}\n{"message":"deep","extra":{"x":${'['.repeat(200)}${']'.repeat(200)}}}`
    const response = await host.send(nested)
    expect([response.status, await response.json()]).toEqual([400, { detail: 'an event is nested too deeply' }])
    expect(host.lines).toEqual([])
  })

  test('counts each event even if all share the id of the header', async () => {
    const host = await intakeHost(ON_SQLITE)
    const header = JSON.stringify({ event_id: 'c'.repeat(32) })
    const response = await host.send(`${header}\n${'{"type":"event"}\n{"message":"without an id"}\n'.repeat(2)}`)
    expect(await response.json()).toEqual({ id: 'c'.repeat(32) })
    expect((await host.find('without an id')).occurrence_count).toBe(2)
  })

  test('unusual envelopes are rejected if the parsed body is nested too deeply to serialize', async () => {
    const { tracker, lines } = await freshTracker(ON_SQLITE)
    const app = express().use(express.json({ limit: '2mb' }))
    app.use('/sentry', sentryIntake({ keys: [KEY], tracker, max_bytes: 2_000_000 }).express)
    const server = createServer(app)
    const origin = await startListening(server)
    onTestFinished(() => void server.close())
    const response = await fetch(`${origin}/sentry/api/1/store/?sentry_key=${KEY}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: `{"message":"deep","extra":${'{"a":'.repeat(100_000)}1${'}'.repeat(100_000)}}`,
    })
    expect([response.status, await response.json()]).toEqual([400, { detail: 'the body is nested too deeply' }])
    expect(lines).toEqual([])
  })
})
