import { readdirSync, readFileSync } from 'node:fs'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { text as readAll } from 'node:stream/consumers'
import { sql } from 'kysely'
import { SMTPServer } from 'smtp-server'
import { describe, expect, onTestFinished, test } from 'vitest'
import type { LogErrorInput } from '../../../src/capture/fields.js'
import { MAX_DUMPS } from '../../../src/diagnostics/dumps/capture-dump.js'
import { createServer } from '../../../src/mcp/server.js'
import type { Settings } from '../../../src/options.js'
import type { TrackerInstance } from '../../../src/tracker.js'
import { openHttpInbox } from '../../contract/http-inbox.js'
import { ON_SQLITE } from '../../reporting/sentry/intake-host.js'
import { describeOneDatabase } from '../../support/databases.js'
import { parseMail } from '../../support/mime.js'
import { secretSamples } from '../../support/secrets/corpus.js'
import {
  CREDENTIALS,
  eventually,
  freshTracker,
  temporaryFolder,
  trackerAt,
  withDatabase,
} from '../../support/tracker.js'
import { filesIn, run, setScene } from '../fixtures/deaths.js'

const SAMPLES = secretSamples()
const KINDS = [...new Set(SAMPLES.map(({ kind }) => kind))].sort()
/** Every sample as a text. Values without a form in JSON, such as a Map, are only in parameters and context. */
const CARRIED = SAMPLES.map((sample) => ({
  ...sample,
  text: 'text' in sample ? sample.text : inJson(sample.data),
})).filter(({ text, secret }) => text.includes(secret))
type Carried = (typeof CARRIED)[number]
/** Enough of every kind to prove without the filter that a sink receives secrets. The filter is tested with all. */
const PROBE = KINDS.flatMap((kind) => CARRIED.filter((sample) => sample.kind === kind).slice(0, 6))
/** No sink cuts messages of this length. */
const MESSAGE_LENGTH = 900
/** Share of the secrets that a sink has to show without the filter. Some sinks escape the characters around a secret. */
const LEAST_RECEIVED = 0.9
/** Samples per error. */
const partsFor = (filtered: boolean) => inParts(filtered ? CARRIED : PROBE, MESSAGE_LENGTH)

function inJson(data: unknown): string {
  return JSON.stringify(data, (_, value) => (typeof value === 'bigint' ? String(value) : value)) ?? ''
}

function inParts<T extends { text: string }>(samples: readonly T[], length: number): T[][] {
  const parts: T[][] = [[]]
  let room = length
  for (const sample of samples) {
    room -= sample.text.length + 1
    if (room < 0) {
      parts.push([])
      room = length - sample.text.length - 1
    }
    parts.at(-1)?.push(sample)
  }
  return parts
}

/** Ten characters of a secret are enough to prove a leak. */
const WINDOW = 10
/** Secrets by their beginning and by their end, where those consist of letters and digits. */
const ENDS = new Map(
  SAMPLES.flatMap(({ secret }) =>
    [secret.slice(-WINDOW), secret.slice(0, WINDOW)].map((part) => [part, secret] as const),
  ).filter(([part]) => /^[\dA-Za-z]{10}$/.test(part)),
)

/** Combines four characters; the characters before them have left the 20 bits. */
const KEY_MASK = 0xfffff
const nextKey = (key: number, code: number) => ((key << 5) ^ code) & KEY_MASK
/** Whether a part starts with four characters of this key. Most positions of an output are dismissed by one look. */
const STARTS = new Uint8Array(KEY_MASK + 1)
for (const part of ENDS.keys()) STARTS[[0, 1, 2, 3].reduce((key, i) => nextKey(key, part.charCodeAt(i)), 0)] = 1

/** The secrets whose beginning or end an output shows. */
function leaksIn(output: string): string[] {
  const found = new Set<string>()
  for (let i = 0, key = 0; i < output.length; i++) {
    key = nextKey(key, output.charCodeAt(i))
    const secret = STARTS[key] === 1 ? ENDS.get(output.slice(i - 3, i - 3 + WINDOW)) : undefined
    if (secret !== undefined) found.add(secret)
  }
  return [...found]
}

/** Fails if a sink does not receive secrets of every kind when nothing is filtered: a silent sink proves nothing. */
function expectSecrets(sink: string, unfiltered: string): void {
  const found = new Set(leaksIn(unfiltered))
  const kinds = new Set(SAMPLES.filter(({ secret }) => found.has(secret)).map(({ kind }) => kind))
  expect([sink, [...kinds].sort()]).toEqual([sink, KINDS])
  const received = PROBE.filter(({ secret }) => found.has(secret)).length
  expect(received / PROBE.length, sink).toBeGreaterThanOrEqual(LEAST_RECEIVED)
}

/** An error that carries its part of the samples in every field. */
function leakyError(part: number, samples: readonly Carried[]): LogErrorInput {
  const texts = samples.map(({ text }) => text)
  const values = samples.flatMap((sample) => ('data' in sample ? [sample.data] : []))
  const message = texts.join('\n')
  const name = `Leak${part}`
  const exception = Object.assign(new Error(message, { cause: new Error(message) }), { name })
  exception.stack = `${name}: ${message}\n    at charge (/srv/shop/part-${part}.js:7:5)`
  return {
    exception,
    request_url: texts.find((text) => text.startsWith('/')) ?? `/items?note=${encodeURIComponent(texts[0] ?? '')}`,
    request_params: { values },
    context: { texts, values },
    tags: { note: texts[0] ?? '' },
    user_agent: texts[1] ?? '',
    request: { method: 'POST', route: texts[2] ?? '/', headers: { referer: texts[3] ?? '' } },
  }
}

async function logAll(tracker: TrackerInstance, parts: readonly Carried[][]): Promise<void> {
  for (const [part, samples] of parts.entries()) {
    await tracker.withScope(async () => {
      for (const { text: message, ...sample } of samples)
        tracker.addBreadcrumb({
          category: 'text',
          message,
          metadata: { message, value: 'data' in sample ? sample.data : null },
        })
      await tracker.Commands.LogError.call(leakyError(part, samples))
    })
  }
}

/** A callback of the host that fails with the message of each error, which the log then shows. */
const before_log_callback = (error: unknown) => {
  throw new Error((error as Error).message)
}
const CAPTURE: Settings = { enable_breadcrumbs: true, before_log_callback }

/** Everything that is in any table of the database. */
function allRows(url: string): Promise<string> {
  return withDatabase(url, async ({ read }) => {
    const tables = await read.introspection.getTables()
    const rows = await Promise.all(
      tables.map(async ({ name }) => (await sql`select * from ${sql.table(name)}`.execute(read)).rows),
    )
    return rows
      .flat()
      .map((row) => JSON.stringify(row, (_, value) => bytesAsText(value)))
      .join('\n')
  })
}

function bytesAsText(value: unknown): unknown {
  if (typeof value === 'bigint') return String(value)
  return value instanceof Uint8Array ? Buffer.from(value).toString('latin1') : value
}

const filesText = (folder: string) =>
  readdirSync(folder)
    .map((name) => readFileSync(join(folder, name), 'latin1'))
    .join('\n')

test('the search for leaks finds a secret, its beginning and its end', () => {
  const secret = SAMPLES[0]?.secret ?? ''
  expect(leaksIn(`a ${secret} b`)).toEqual([secret])
  expect(leaksIn(`{"x":"${secret.slice(0, 11)}…"}`)).toEqual([secret])
  expect(leaksIn(`[FILTERED]${secret.slice(-11)}`)).toEqual([secret])
})

describeOneDatabase('the corpus of secrets', (database) => {
  test('reaches the rows of the database, and no secret does with the filter', async () => {
    const rowsAndLog = async (filter_sensitive_data: boolean) => {
      const { tracker, url, lines } = await freshTracker(database, { ...CAPTURE, filter_sensitive_data })
      const parts = partsFor(filter_sensitive_data)
      await logAll(tracker, parts)
      expect((await tracker.Queries.ErrorsList.page({})).pagination.total_count).toBe(parts.length)
      return { rows: await allRows(url), log: lines.join('\n') }
    }
    const unfiltered = await rowsAndLog(false)
    for (const [sink, output] of Object.entries(unfiltered)) expectSecrets(sink, output)
    const filtered = await rowsAndLog(true)
    for (const [sink, output] of Object.entries(filtered)) expect([sink, leaksIn(output)]).toEqual([sink, []])
  }, 300_000)
})

describe('the corpus of secrets', () => {
  test('has at least 1,500 secrets that fit into a message, of every kind', () => {
    expect(CARRIED.length).toBeGreaterThanOrEqual(1500)
    expect([...new Set(CARRIED.map(({ kind }) => kind))].sort()).toEqual(KINDS)
    expect(Math.max(...partsFor(true).map((part) => part.map(({ text }) => text).join('\n').length))).toBeLessThan(
      MESSAGE_LENGTH,
    )
  })

  test('reaches every page, answer, file and message, and no secret does with the filter', async () => {
    const unfiltered = await outputs(false)
    for (const [sink, output] of Object.entries(unfiltered)) expectSecrets(sink, output)
    const filtered = await outputs(true)
    expect(Object.keys(filtered)).toEqual(Object.keys(unfiltered))
    for (const [sink, output] of Object.entries(filtered)) expect([sink, leaksIn(output)]).toEqual([sink, []])
  }, 600_000)

  test('reaches the spool file while the database is away, and no secret does with the filter', async () => {
    const spooled = async (filter_sensitive_data: boolean) => {
      const place = { url: 'postgres://shop@127.0.0.1:1/shop', spool_path: temporaryFolder() }
      const { tracker, lines } = trackerAt(place, { ...CAPTURE, filter_sensitive_data })
      await logAll(tracker, partsFor(filter_sensitive_data))
      return { spool: filesText(place.spool_path), log: lines.join('\n') }
    }
    for (const [sink, output] of Object.entries(await spooled(false))) expectSecrets(sink, output)
    for (const [sink, output] of Object.entries(await spooled(true)))
      expect([sink, leaksIn(output)]).toEqual([sink, []])
  }, 300_000)

  test('reaches dumps and their notes, and no secret does', async () => {
    const { tracker, url } = await freshTracker(ON_SQLITE, {
      ...{ enable_diagnostic_dump: true, enable_breadcrumbs: true, breadcrumb_buffer_size: 1000 },
    })
    // Dumps are always filtered. A mark before each text shows that the text reached the dump.
    const marked = CARRIED.map(({ text }, i) => ({ i, text: `#note-${i}# ${text}` }))
    let dumps = ''
    for (const [number, part] of inParts(marked, NOTE_LENGTH).entries()) {
      await tracker.withScope(async () => {
        for (const { i } of part)
          tracker.addBreadcrumb({ category: 'text', message: `#crumb-${i}# ${CARRIED[i]?.text}` })
        await tracker.Commands.CaptureDiagnosticDump.call({ note: part.map(({ text }) => text).join('\n') })
      })
      // The oldest dumps are deleted.
      if (number % MAX_DUMPS === MAX_DUMPS - 1) dumps += await allRows(url)
    }
    dumps += await allRows(url)
    const marks = new Set(dumps.match(/#(?:crumb|note)-\d+# /g))
    const reached = (place: string) => CARRIED.filter((_, i) => marks.has(`#${place}-${i}# `)).length
    expect(reached('crumb')).toBe(CARRIED.length)
    // A secret without an end, such as half of a private key, takes the texts behind it with it.
    expect(reached('note') / CARRIED.length).toBeGreaterThanOrEqual(LEAST_RECEIVED)
    expect(leaksIn(dumps)).toEqual([])
  }, 300_000)

  test('reaches crash files, and no secret does with the filter', async () => {
    const crashes = async (filter_sensitive_data: boolean) => {
      const scene = await setScene({ ...ON_SQLITE, empty: ON_SQLITE.fresh }, { enable_breadcrumbs: true })
      let files = ''
      for (const [i, part] of inParts(filter_sensitive_data ? CARRIED : PROBE, CRASH_LENGTH).entries()) {
        const values = JSON.parse(inJson(part.flatMap((sample) => ('data' in sample ? [sample.data] : []))))
        const crash_capture_path = `${scene.crash_path}-${i}`
        const settings = { ...scene.settings, filter_sensitive_data, crash_capture_path }
        await run('death-with-secrets', { settings, values, texts: part.map(({ text }) => text) })
        expect(filesIn(crash_capture_path)).toHaveLength(1)
        files += filesText(crash_capture_path)
      }
      return files
    }
    expectSecrets('crash files', await crashes(false))
    expect(leaksIn(await crashes(true))).toEqual([])
  }, 300_000)
})

const NOTE_LENGTH = 950
const CRASH_LENGTH = 9000

/** Everything that leaves the tracker, by its way. */
async function outputs(filter_sensitive_data: boolean): Promise<Record<string, string>> {
  const inboxes = await Promise.all(CHANNELS.map((settingsFor) => openHttpInbox(settingsFor)))
  for (const inbox of inboxes) onTestFinished(() => inbox.close())
  const mail = await openMailServer()
  const { tracker, url, lines, clock } = await freshTracker(ON_SQLITE, {
    ...Object.assign({}, mail.settings, ...inboxes.map(({ settings }) => settings)),
    ...{ ...CAPTURE, filter_sensitive_data, dashboard_base_url: 'https://shop.example' },
    ...{ severity_thresholds: { incident: 'low' }, notification_max_per_hour: 100_000 },
  })
  clock.now = null
  const parts = partsFor(filter_sensitive_data)
  await logAll(tracker, parts)
  const ids: number[] = []
  for (let page = 1; ids.length < parts.length && page < 10; page++)
    ids.push(...(await tracker.Queries.ErrorsList.call({ per_page: 100, page })).map(({ id }) => id))
  expect(ids).toHaveLength(parts.length)

  const get = async (path: string, accept: string) => {
    const headers = { authorization: `Basic ${btoa(Object.values(CREDENTIALS).join(':'))}`, accept }
    const exchange = { base: '', path: path.replace(/\?.*/, ''), remote_address: '127.0.0.1' }
    const response = await tracker.handle(new Request(`http://host${path}`, { headers }), exchange)
    expect([path, response.status]).toEqual([path, 200])
    return response.text()
  }
  const mcp = createServer({ tracker, version: '0', allow_triage: false, log: () => {} })
  const call = async (name: string, given: object) =>
    JSON.stringify(await mcp('tools/call', { name, arguments: given }))
  const found = {
    csv: await get('/errors.csv', 'text/csv'),
    json: await get('/errors?per_page=100', 'application/json'),
    html: await get('/errors?per_page=100', 'text/html'),
    mcp: await call('list_errors', {}),
    export: '',
  }
  for (const id of ids) {
    found.json += await get(`/errors/${id}`, 'application/json')
    found.html += await get(`/errors/${id}`, 'text/html')
    found.mcp += await call('get_error', { error_id: id })
  }
  for await (const record of tracker.Queries.ExportErrors.records({})) found.export += JSON.stringify(record)

  const received = () => [...inboxes.map(({ messages }) => messages.length), mail.received.length]
  await eventually(
    () => received().every((count) => count >= parts.length),
    'every channel has a message of every error',
  )
  const [chat = '', community_chat = '', webhook = '', incident = ''] = inboxes.map(({ messages }) =>
    messages.map(({ text }) => text).join('\n'),
  )
  const mails = mail.received.map((raw) => {
    const { headers, text, html } = parseMail(raw)
    return `${JSON.stringify(headers)}\n${text}\n${html}\n${raw}`
  })
  await tracker.shutdown()
  const file = readFileSync(url.replace(/^sqlite:/, ''), 'latin1')
  return { ...found, chat, community_chat, webhook, incident, mail: mails.join('\n'), file, log: lines.join('\n') }
}

const CHANNELS: readonly ((url: string) => Settings)[] = [
  (chat_webhook_url) => ({ enable_chat_notifications: true, chat_webhook_url }),
  (community_chat_webhook_url) => ({ community_chat_webhook_url }),
  (webhook_url) => ({ webhook_url }),
  (incident_events_url) => ({ incident_events_url, incident_integration_key: 'a-key' }),
]

async function openMailServer(): Promise<{ settings: Settings; received: string[] }> {
  const received: string[] = []
  const server = new SMTPServer({
    ...{ authOptional: true, closeTimeout: 50, logger: false },
    onData(stream, _session, done) {
      void readAll(stream).then((raw) => {
        received.push(raw)
        done()
      })
    },
  })
  server.on('error', () => {})
  await new Promise<void>((resolve) => server.server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => new Promise<void>((resolve) => server.close(resolve)))
  const { port } = server.server.address() as AddressInfo
  return {
    settings: {
      enable_email_notifications: true,
      notification_email_recipients: ['ops@shop.example'],
      smtp_url: `smtp://127.0.0.1:${port}?tls.rejectUnauthorized=false`,
    },
    received,
  }
}
