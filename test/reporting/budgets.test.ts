import { once } from 'node:events'
import { connect } from 'node:net'
import { gzipSync } from 'node:zlib'
import { expect, test } from 'vitest'
import { OVER_LIMIT_TYPE } from '../../src/capture/clients/client-budgets.js'
import { MAX_CLIENT_ENVIRONMENTS } from '../../src/capture/clients/client-environments.js'
import type { ForeignError } from '../../src/capture/clients/foreign-error.js'
import type { TrackerInstance } from '../../src/tracker.js'
import { describeEachDatabase } from '../support/databases.js'
import {
  eventually,
  freshStorage,
  freshTracker,
  NOON,
  temporaryFolder,
  trackerAt,
  withDatabase,
} from '../support/tracker.js'
import { onlyError, REPORT, reportingHost, totalOccurrences } from './reporting-host.js'
import { createEnvelope, intakeHost, KEY, ON_SQLITE } from './sentry/intake-host.js'

const HOUR = 3_600_000
const DAY = 24 * HOUR

/** Encodes a number in letters, because grouping ignores digits. */
function toLetters(n: number): string {
  return [...String(n)].map((digit) => 'abcdefghij'[Number(digit)]).join('')
}

function clientError(n: number, overrides: Partial<ForeignError> = {}): ForeignError {
  return { source: 'sentry', error_type: `Forged${toLetters(n)}`, message: 'x', backtrace: [], ...overrides }
}

async function errorGroups(tracker: TrackerInstance) {
  await tracker.flush()
  const errors = await tracker.Queries.ErrorsList.call({ per_page: 100 })
  const shared = errors.find(({ error_type }) => error_type === OVER_LIMIT_TYPE)
  return { own: errors.filter((error) => error !== shared).length, shared: shared?.occurrence_count ?? 0 }
}

/** Environments that clients send, and how they are recorded. */
const HOSTILE_ENVIRONMENTS: readonly (readonly [sent: unknown, recorded: string])[] = [
  ['x'.repeat(5000), `${'x'.repeat(63)}…`],
  ['  a\u0000\n b  ', 'a\ufffd b'],
  ['\ud800', '\ufffd'],
  ["'; drop table faultboard_errors; --", "'; drop table faultboard_errors; --"],
  ['<script>alert(1)</script>', '<script>alert(1)</script>'],
  [' \n', 'production'],
  [{ evil: true }, 'production'],
]

describeEachDatabase('Environments named by clients', (database) => {
  test('clients can create a limited number of environments across processes', async () => {
    const storage = await freshStorage(database)
    const environments = async (tracker: TrackerInstance) => {
      await tracker.flush()
      const errors = await tracker.Queries.ErrorsList.call({ per_page: 100 })
      return errors.map(({ environment }) => environment)
    }
    const { tracker } = trackerAt(storage)
    for (let n = 0; n < MAX_CLIENT_ENVIRONMENTS + 2; n++)
      await tracker.intake.record(clientError(0, { environment: `forged ${n}` }))
    const created = await environments(tracker)
    expect(created).toHaveLength(MAX_CLIENT_ENVIRONMENTS)
    expect(created).toContain('other')

    const another = trackerAt(storage).tracker
    await another.intake.record(clientError(0, { environment: 'forged 99' }))
    await another.intake.record(clientError(0, { environment: 'forged 1' }))
    await another.intake.record(clientError(0))
    expect((await environments(another)).toSorted()).toEqual([...created, 'production'].toSorted())
    expect((await another.stats()).dropped).toMatchObject({ client_environment_left_out: 1 })
  })

  test('records hostile environments in a form that the database accepts', async () => {
    const { tracker } = await freshTracker(database)
    for (const [n, [environment]] of HOSTILE_ENVIRONMENTS.entries())
      await tracker.intake.record(clientError(n, { environment: environment as string }))
    await tracker.flush()
    const errors = await tracker.Queries.ErrorsList.call()
    const recorded = new Map(errors.map(({ error_type, environment }) => [error_type, environment]))
    expect(HOSTILE_ENVIRONMENTS.map((_, n) => recorded.get(clientError(n).error_type))).toEqual(
      HOSTILE_ENVIRONMENTS.map(([, expected]) => expected),
    )
  })
})

describeEachDatabase('Limit on new client errors per hour', (database) => {
  const LIMIT = { client_max_new_errors_per_hour: 5 }

  test('the limit on new client errors applies across processes, and further errors share one group despite fingerprints', async () => {
    const storage = await freshStorage(database)
    const trackers = [trackerAt(storage, LIMIT).tracker, trackerAt(storage, LIMIT).tracker]
    await Promise.all(
      trackers.flatMap((tracker, i) =>
        Array.from({ length: 10 }, (_, n) =>
          tracker.intake.record(clientError(i * 10 + n, n % 2 ? {} : { fingerprint: [`f${i}${n}`] })),
        ),
      ),
    )
    const [first] = trackers
    if (!first) throw new Error('no tracker')
    expect(await errorGroups(first)).toEqual({ own: 5, shared: 15 })
    const [shared] = await first.Queries.ErrorsList.call({ error_type: OVER_LIMIT_TYPE })
    expect(await first.Queries.FindError.call({ error_id: shared?.id ?? 0 })).toMatchObject({
      ...{ source: 'sentry', platform: 'Other', app_version: null, user_count: 0 },
      occurrence: { message: expect.stringMatching(/^Forged[a-j]+: x$/) },
    })
  })

  test('the limit on new client errors is reset by the next hour, not by a restart', async () => {
    const storage = await freshStorage(database)
    for (let run = 0; run < 3; run++) {
      const { tracker } = trackerAt(storage, LIMIT)
      for (let n = 0; n < 3; n++) await tracker.intake.record(clientError(run * 3 + n))
      await tracker.shutdown()
    }
    const next = trackerAt(storage, LIMIT)
    expect(await errorGroups(next.tracker)).toEqual({ own: 5, shared: 4 })
    next.clock.now = NOON + HOUR
    await next.tracker.intake.record(clientError(100))
    expect(await errorGroups(next.tracker)).toEqual({ own: 6, shared: 4 })
  })

  test('the limit on new client errors does not affect known errors and server errors', async () => {
    const storage = await freshStorage(database)
    const before = trackerAt(storage, LIMIT).tracker
    for (let n = 0; n < 6; n++) await before.intake.record(clientError(n))
    await before.shutdown()
    const { tracker } = trackerAt(storage, LIMIT)
    for (let n = 0; n < 5; n++) await tracker.intake.record(clientError(n))
    await tracker.Commands.LogError.call({ error_type: 'ServerError', message: 'x' })
    expect(await errorGroups(tracker)).toEqual({ own: 6, shared: 1 })
    const knownError = await tracker.Queries.ErrorsList.call({ search: 'Forged' })
    expect(knownError.filter(({ occurrence_count }) => occurrence_count === 2)).toHaveLength(5)
  })
})

describeEachDatabase('Stored bytes of client errors per day', (database) => {
  test('stored bytes per day are limited: further occurrences are counted without details, and the limit survives a restart', async () => {
    const storage = await freshStorage(database)
    const settings = { client_max_stored_bytes_per_day: 40_000 }
    const large = clientError(1, {
      ...{ app_version: '1.0.0', user_id: 'ada', context: { text: 'x'.repeat(4000) } },
      ...{ request_url: 'https://shop.example/cart' },
    })
    const first = trackerAt(storage, settings)
    for (let n = 0; n < 20; n++)
      await first.tracker.intake.record({ ...large, app_version: `1.0.${n}`, user_id: `u${n}` })
    await first.tracker.shutdown()
    const { tracker, clock } = trackerAt(storage, settings)
    await tracker.intake.record({ ...large, app_version: '7.7.7', user_id: 'eve' })
    const record = await onlyError(tracker)
    expect(record).toMatchObject({ occurrence_count: 21, app_version: null })
    expect(record.user_count).toBeGreaterThan(2)
    expect(record.user_count).toBeLessThan(12)
    expect(record.occurrence).toMatchObject({ request_url: null, context: {} })
    clock.now = NOON + DAY
    await tracker.intake.record({ ...large, app_version: '2.0.0' })
    expect(await onlyError(tracker)).toMatchObject({ occurrence_count: 22, app_version: '2.0.0' })
  })
})

describeEachDatabase('Versions reported by clients', (database) => {
  test('versions reported by clients are limited per day; further errors are recorded without their version', async () => {
    const storage = await freshStorage(database)
    const { tracker } = trackerAt(storage)
    for (let n = 0; n < 220; n += 20) {
      const some = Array.from({ length: 20 }, (_, i) =>
        clientError(1, { app_version: `1.0.${n + i}`, platform: 'Web' }),
      )
      await Promise.all(some.map((error) => tracker.intake.record(error)))
    }
    await tracker.flush()
    const releases = await withDatabase(storage.url, ({ read }) =>
      read.selectFrom('faultboard_client_releases').select('version').execute(),
    )
    expect(releases).toHaveLength(200)
    expect((await tracker.stats()).dropped.client_release_left_out).toBe(20)
    const next = trackerAt(storage).tracker
    await next.intake.record(clientError(2, { app_version: releases[0]?.version ?? '', platform: 'Web' }))
    await next.flush()
    const [knownError] = await next.Queries.ErrorsList.call({ search: 'Forgedc' })
    expect(knownError).toMatchObject({ app_version: releases[0]?.version })
  })
})

describeEachDatabase('Client occurrences beyond the daily byte limit', (database) => {
  test('client occurrences beyond the daily byte limit keep a short message without past hours or rows per version and user', async () => {
    const { tracker } = await freshTracker(database, { client_max_stored_bytes_per_day: 0 })
    const message = `x ${'漢'.repeat(9000)}`
    await tracker.intake.record(
      clientError(1, { message, app_version: '1.0.0', user_id: 'ada', occurred_at: NOON - 10 * HOUR }),
    )
    const record = await onlyError(tracker)
    expect(record).toMatchObject({ occurrence_count: 1, app_version: null, user_count: 0 })
    expect(record.message).toHaveLength(500)
    expect(record.first_seen_at).toBe(new Date(NOON).toISOString())
  })

  test('client occurrences beyond the daily byte limit are counted in one shared error after occurrences without details reach the limit', async () => {
    const storage = await freshStorage(database)
    const { tracker } = trackerAt(storage, { client_max_stored_bytes_per_day: 0 })
    await tracker.intake.record(clientError(1, { event_key: 'first' }))
    await tracker.flush()
    await withDatabase(storage.url, ({ read }) =>
      read
        .updateTable('faultboard_budget_usage')
        .set({ amount: 10_000_000 })
        .where('budget', '=', 'client_max_stored_bytes_per_day:counted')
        .execute(),
    )
    const other = trackerAt(storage, { client_max_stored_bytes_per_day: 0 }).tracker
    for (let n = 0; n < 3; n++) await other.intake.record(clientError(1, { event_key: `later ${n}` }))
    expect(await errorGroups(other)).toEqual({ own: 1, shared: 3 })
    const ids = await withDatabase(storage.url, ({ read }) =>
      read.selectFrom('faultboard_reported_events').select('event_digest').execute(),
    )
    expect(ids).toHaveLength(1)
  })
})

describeEachDatabase('Limits on the Health page', (database) => {
  test('Health shows rejections of all processes per option with their first and last time', async () => {
    const settings = { client_max_new_errors_per_hour: 1, project_root: temporaryFolder() }
    const first = await freshTracker(database, settings)
    const second = trackerAt(first, settings)
    second.clock.now = NOON + 60_000
    for (let n = 0; n < 3; n++) await first.tracker.intake.record(clientError(n))
    await second.tracker.intake.record(clientError(9))
    second.tracker.intake.reject('client_max_requests_per_minute')
    await first.tracker.flush()
    await first.tracker.shutdown()
    const authorization = `Basic ${Buffer.from('admin:correct horse').toString('base64')}`
    const page = (path: string) =>
      second.tracker.handle(new Request(`http://host${path}`, { headers: { authorization, accept: 'text/html' } }), {
        ...{ base: '', path, remote_address: '127.0.0.1' },
      })
    const json = (await (await page('/health.json')).json()) as { rejections: unknown }
    expect(json.rejections).toEqual([
      {
        ...{ option: 'client_max_requests_per_minute', limit: { per_address: 300, total: 6000 }, count: 1 },
        ...{ first_rejected_at: '2026-03-10T12:01:00.000Z', last_rejected_at: '2026-03-10T12:01:00.000Z' },
        text: expect.stringContaining('Raise client_max_requests_per_minute if this volume is expected.'),
      },
      {
        ...{ option: 'client_max_new_errors_per_hour', limit: 1, count: 3 },
        ...{ first_rejected_at: '2026-03-10T12:00:00.000Z', last_rejected_at: '2026-03-10T12:01:00.000Z' },
        text: expect.stringContaining(OVER_LIMIT_TYPE),
      },
    ])
    expect(await (await page('/health')).text()).toContain('300 per address, 6,000 in total')
  })
})

/** Envelope with 63 items whose headers are 16 KB of arrays: 1.2 KB compressed, 1 MB to parse. */
function costlyHeaders(): Uint8Array<ArrayBuffer> {
  const header = `{"a":[${'[],'.repeat(5400)}[]],"length":0}`
  return new Uint8Array(gzipSync(`{}\n${`${header}\n\n`.repeat(63)}`))
}

const gzip = { 'content-encoding': 'gzip' }

test.each([
  ['an envelope without a key', false, costlyHeaders(), gzip, 401],
  ['headers of more than 64 KB', true, costlyHeaders(), gzip, 400],
  ['a body that is too large after decompression', true, new Uint8Array(gzipSync('x'.repeat(2e6))), gzip, 413],
  ['a body that is not gzip', true, new Uint8Array([1, 2, 3, 4]), gzip, 400],
  ['a payload that is not JSON', true, '{}\n{"type":"event"}\nno JSON', {}, 400],
] as const)('counts %s as a request', async (_title, hasKey, body, headers, status) => {
  const settings = {
    client_max_requests_per_minute: { per_address: 5 },
    client_max_bytes_per_minute: { per_address: 20_000_000 },
  }
  const host = await intakeHost(ON_SQLITE, { settings })
  const url = `${host.origin}/sentry/api/1/envelope/${hasKey ? `?sentry_key=${KEY}` : ''}`
  const statuses: number[] = []
  for (let i = 0; i < 8; i++) statuses.push((await fetch(url, { method: 'POST', body, headers })).status)
  expect(statuses).toEqual([...Array(5).fill(status), 429, 429, 429])
})

test('counts invalid bodies and rejected clients of the reporting endpoint as requests', async () => {
  const host = await reportingHost(
    { authorize: ({ request }) => request.headers.get('x-token') === 'right' },
    { client_max_requests_per_minute: { per_address: 2 } },
  )
  const invalid = `{"error": ${'x'.repeat(250_000)}`
  expect((await host.post(invalid, { 'x-token': 'right' })).status).toBe(422)
  expect((await host.post({ error: REPORT })).status).toBe(401)
  const refused = await host.post({ error: REPORT }, { 'x-token': 'right' })
  expect(refused).toMatchObject({
    status: 429,
    body: { error: 'Too many requests or bytes from this client. Try again in 60 seconds.' },
  })
  expect(refused.headers.get('retry-after')).toBe('60')
})

test('allows requests again after the clock is set back', async () => {
  const host = await reportingHost({}, { client_max_requests_per_minute: { per_address: 2 } })
  const statuses = async () => [await host.post({ error: REPORT }), await host.post({ error: REPORT })]
  await statuses()
  expect((await host.post({ error: REPORT })).status).toBe(429)
  host.clock.now -= 24 * 3_600_000
  expect((await statuses()).map(({ status }) => status)).toEqual([201, 201])
  expect((await host.post({ error: REPORT })).headers.get('retry-after')).toBe('60')
})

test('checks the key in the first line before it decompresses the rest', async () => {
  const host = await intakeHost(ON_SQLITE, { settings: { client_max_bytes_per_minute: { per_address: 150_000 } } })
  const url = `${host.origin}/sentry/api/1/envelope/`
  const send = (key: string) => {
    const header = { dsn: host.dsn.replace(KEY, key) }
    const body = new Uint8Array(gzipSync(`${JSON.stringify(header)}\n{"type":"event"}\n${'x'.repeat(900_000)}`))
    return fetch(url, { method: 'POST', body, headers: gzip })
  }
  // Each body is one chunk: decompressing a whole body would exceed the limit immediately.
  expect((await send('wrong')).status).toBe(403)
  expect((await send('wrong')).status).toBe(403)
  expect((await send(KEY)).status).toBe(429)
})

test('counts every chunk of a body as at least one kilobyte', async () => {
  const host = await intakeHost(ON_SQLITE, { settings: { client_max_bytes_per_minute: { per_address: 100_000 } } })
  const { port } = new URL(host.origin)
  const send = async (chunks: number) => {
    const socket = connect(Number(port), '127.0.0.1')
    socket.write(
      `POST /sentry/api/1/envelope/?sentry_key=${KEY} HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n`,
    )
    socket.write(`${'1\r\nx\r\n'.repeat(chunks)}0\r\n\r\n`)
    const [response] = await once(socket, 'data')
    socket.destroy()
    return String(response).split(' ')[1]
  }
  expect(await send(50)).toBe('400')
  expect(await send(200)).toBe('429')
})

test('limits the decompressed bytes per address and stops reading at the limit', async () => {
  const host = await intakeHost(ON_SQLITE, {
    settings: { client_max_bytes_per_minute: { per_address: 1_000_000, total: 1_200_000 } },
  })
  const event = { message: 'large', extra: { text: 'x'.repeat(600_000) } }
  const body = new Uint8Array(gzipSync(createEnvelope([{ type: 'event' }, event])))
  expect((await host.send(body, gzip)).status).toBe(200)
  const isBlocked = await host.send(body, gzip)
  expect(isBlocked.status).toBe(429)
  expect(isBlocked.headers.get('x-sentry-rate-limits')).toMatch(/^\d+::key$/)
  await eventually(async () => (await totalOccurrences(host.tracker)) === 1, 'one event is recorded')
  const { dropped } = await host.tracker.stats()
  expect(dropped.client_max_bytes_per_minute).toBe(1)
})

test('stores less of a client error than of a server error', async () => {
  const host = await reportingHost({ max_bytes: 1_000_000 })
  const breadcrumbs = Array.from({ length: 100 }, (_, i) => ({
    ...{ category: 'ui', message: `${i} ${'m'.repeat(2000)}`, metadata: { text: 'd'.repeat(2000) } },
  }))
  const context = Object.fromEntries(Array.from({ length: 50 }, (_, i) => [`key${i}`, 'v'.repeat(2000)]))
  const stack = Array.from({ length: 100 }, (_, i) => `    at f${i} (https://shop.example/${'p'.repeat(900)}.js:1:2)`)
  const error = { ...REPORT, breadcrumbs, context, stack: `Error: x\n${stack.join('\n')}` }
  expect((await host.post({ error })).status).toBe(201)
  const record = await onlyError(host.tracker)
  expect(record.breadcrumbs).toHaveLength(40)
  expect(JSON.stringify(record.breadcrumbs).length).toBeLessThan(40 * 1300)
  expect(JSON.stringify(record.context).length).toBeLessThan(9500)
  expect(record.backtrace.join('').length).toBeLessThan(32_001)
})
