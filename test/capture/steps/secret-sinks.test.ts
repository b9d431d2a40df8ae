import { readdirSync, readFileSync } from 'node:fs'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { text as readAll } from 'node:stream/consumers'
import { sql } from 'kysely'
import { SMTPServer } from 'smtp-server'
import { describe, expect, onTestFinished, test } from 'vitest'
import type { LogErrorInput } from '../../../src/capture/fields.js'
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
import { createSetup, filesIn, run } from '../fixtures/child-processes.js'

const SAMPLES = secretSamples()
const KINDS = [...new Set(SAMPLES.map(({ kind }) => kind))].sort()
/** Every sample as text. Values without a JSON form, such as a Map, are only in parameters and context. */
const TEXT_SAMPLES = SAMPLES.map((sample) => ({
  ...sample,
  text: 'text' in sample ? sample.text : toJson(sample.data),
})).filter(({ text, secret }) => text.includes(secret))
type TextSample = (typeof TEXT_SAMPLES)[number]
/** Samples of every kind that prove without the filter that a sink receives secrets. The filter is tested with all. */
const PROBE_SAMPLES = KINDS.flatMap((kind) => TEXT_SAMPLES.filter((sample) => sample.kind === kind).slice(0, 6))
/**
 * Samples for sinks that receive what the database receives, which is tested with all samples. Five shares no factor
 * with the numbers of forms, contexts and styles in the corpus, so every one of them is included.
 */
const SPREAD_SAMPLES = TEXT_SAMPLES.filter((sample, i) => i % 5 === 0 || PROBE_SAMPLES.includes(sample))
/** No sink truncates messages of this length. */
const MESSAGE_LENGTH = 900
/** Share of the secrets that a sink must show without the filter. Some sinks escape adjacent characters. */
const MIN_RECEIVED_SHARE = 0.9
/** Samples per error. */
const partsFor = (filtered: boolean, filteredSamples = TEXT_SAMPLES) =>
  splitIntoParts(filtered ? filteredSamples : PROBE_SAMPLES, MESSAGE_LENGTH)

function toJson(data: unknown): string {
  return JSON.stringify(data, (_, value) => (typeof value === 'bigint' ? String(value) : value)) ?? ''
}

function splitIntoParts<T extends { text: string }>(samples: readonly T[], length: number): T[][] {
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

/** Ten characters of a secret prove a leak. */
const WINDOW = 10
/** Secrets by their first and last characters, if these are letters and digits. */
const SECRET_EDGES = new Map(
  SAMPLES.flatMap(({ secret }) =>
    [secret.slice(-WINDOW), secret.slice(0, WINDOW)].map((part) => [part, secret] as const),
  ).filter(([part]) => /^[\dA-Za-z]{10}$/.test(part)),
)

/** Rolling key of four characters: earlier characters have left the 20 bits. */
const KEY_MASK = 0xfffff
const nextKey = (key: number, code: number) => ((key << 5) ^ code) & KEY_MASK
/** Keys of the first four characters of all parts. Rules out most positions with one lookup. */
const HAS_EDGE_KEY = new Uint8Array(KEY_MASK + 1)
for (const part of SECRET_EDGES.keys())
  HAS_EDGE_KEY[[0, 1, 2, 3].reduce((key, i) => nextKey(key, part.charCodeAt(i)), 0)] = 1

/** Secrets whose start or end is visible in an output. */
function findLeaks(output: string): string[] {
  const found = new Set<string>()
  for (let i = 0, key = 0; i < output.length; i++) {
    key = nextKey(key, output.charCodeAt(i))
    const secret = HAS_EDGE_KEY[key] === 1 ? SECRET_EDGES.get(output.slice(i - 3, i - 3 + WINDOW)) : undefined
    if (secret !== undefined) found.add(secret)
  }
  return [...found]
}

/** Fails if a sink does not receive secrets of every kind without the filter. A silent sink proves nothing. */
function expectSecrets(sink: string, unfiltered: string): void {
  const found = new Set(findLeaks(unfiltered))
  const kinds = new Set(SAMPLES.filter(({ secret }) => found.has(secret)).map(({ kind }) => kind))
  expect([sink, [...kinds].sort()]).toEqual([sink, KINDS])
  const received = PROBE_SAMPLES.filter(({ secret }) => found.has(secret)).length
  expect(received / PROBE_SAMPLES.length, sink).toBeGreaterThanOrEqual(MIN_RECEIVED_SHARE)
}

/** An error with its share of the samples in every field. */
function leakyError(part: number, samples: readonly TextSample[]): LogErrorInput {
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

async function logAll(tracker: TrackerInstance, parts: readonly TextSample[][]): Promise<void> {
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

/** Fails with the message of each error, which is then logged. */
const before_log_callback = (error: unknown) => {
  throw new Error((error as Error).message)
}
const CAPTURE: Settings = { enable_breadcrumbs: true, before_log_callback }

/** Contents of all tables of the database. */
function allRows(url: string): Promise<string> {
  return withDatabase(url, async ({ read }) => {
    const tables = await read.introspection.getTables()
    const rows = await Promise.all(
      tables.map(async ({ name }) => (await sql`select * from ${sql.table(name)}`.execute(read)).rows),
    )
    return rows
      .flat()
      .map((row) => JSON.stringify(row, (_, value) => serializeValue(value)))
      .join('\n')
  })
}

function serializeValue(value: unknown): unknown {
  if (typeof value === 'bigint') return String(value)
  return value instanceof Uint8Array ? Buffer.from(value).toString('latin1') : value
}

const readFiles = (folder: string) =>
  readdirSync(folder)
    .map((name) => readFileSync(join(folder, name), 'latin1'))
    .join('\n')

test('finds a secret by its prefix and by its suffix', () => {
  const secret = SAMPLES[0]?.secret ?? ''
  expect(findLeaks(`a ${secret} b`)).toEqual([secret])
  expect(findLeaks(`{"x":"${secret.slice(0, 11)}…"}`)).toEqual([secret])
  expect(findLeaks(`[FILTERED]${secret.slice(-11)}`)).toEqual([secret])
})

describeOneDatabase('secrets in the database', (database) => {
  test('stores no secret in any row with the filter', async () => {
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
    for (const [sink, output] of Object.entries(filtered)) expect([sink, findLeaks(output)]).toEqual([sink, []])
  }, 300_000)
})

describe('secrets in other sinks', () => {
  test('contains at least 1,500 secrets of every kind that fit into a message', () => {
    expect(TEXT_SAMPLES.length).toBeGreaterThanOrEqual(1500)
    for (const samples of [TEXT_SAMPLES, SPREAD_SAMPLES])
      expect([...new Set(samples.map(({ kind }) => kind))].sort()).toEqual(KINDS)
    expect(Math.max(...partsFor(true).map((part) => part.map(({ text }) => text).join('\n').length))).toBeLessThan(
      MESSAGE_LENGTH,
    )
  })

  test('writes no secret to any page, response, file or message with the filter', async () => {
    const unfiltered = await collectOutputs(false)
    for (const [sink, output] of Object.entries(unfiltered)) expectSecrets(sink, output)
    const filtered = await collectOutputs(true)
    expect(Object.keys(filtered)).toEqual(Object.keys(unfiltered))
    for (const [sink, output] of Object.entries(filtered)) expect([sink, findLeaks(output)]).toEqual([sink, []])
  }, 600_000)

  test('writes no secret to the spool file with the filter', async () => {
    const spooled = async (filter_sensitive_data: boolean) => {
      const storage = { url: 'postgres://shop@127.0.0.1:1/shop', spool_path: temporaryFolder() }
      const { tracker, lines } = trackerAt(storage, { ...CAPTURE, filter_sensitive_data })
      await logAll(tracker, partsFor(filter_sensitive_data))
      return { spool: readFiles(storage.spool_path), log: lines.join('\n') }
    }
    for (const [sink, output] of Object.entries(await spooled(false))) expectSecrets(sink, output)
    for (const [sink, output] of Object.entries(await spooled(true)))
      expect([sink, findLeaks(output)]).toEqual([sink, []])
  }, 300_000)

  test('writes no secret to dumps and their notes', async () => {
    const { tracker, url } = await freshTracker(ON_SQLITE, {
      ...{ enable_diagnostic_dump: true, enable_breadcrumbs: true, breadcrumb_buffer_size: 1000 },
    })
    // Dumps are always filtered. A marker before each text proves that the text reached the dump.
    const notes = splitIntoParts(
      PROBE_SAMPLES.map(({ text }, i) => ({ text: `#note-${i}# ${text}` })),
      NOTE_LENGTH,
    )
    for (let start = 0; start < TEXT_SAMPLES.length; start += CRUMBS_PER_DUMP) {
      await tracker.withScope(async () => {
        for (const [i, { text }] of TEXT_SAMPLES.slice(start, start + CRUMBS_PER_DUMP).entries())
          tracker.addBreadcrumb({ category: 'text', message: `#crumb-${start + i}# ${text}` })
        const note =
          notes
            .shift()
            ?.map(({ text }) => text)
            .join('\n') ?? ''
        await tracker.Commands.CaptureDiagnosticDump.call({ note })
      })
    }
    expect(notes).toEqual([])
    const dumps = await allRows(url)
    const marks = new Set(dumps.match(/#(?:crumb|note)-\d+# /g))
    const countReached = (place: string, samples: readonly unknown[]) =>
      samples.filter((_, i) => marks.has(`#${place}-${i}# `)).length
    expect(countReached('crumb', TEXT_SAMPLES)).toBe(TEXT_SAMPLES.length)
    // An unterminated secret, such as half of a private key, removes the text after it as well.
    expect(countReached('note', PROBE_SAMPLES) / PROBE_SAMPLES.length).toBeGreaterThanOrEqual(MIN_RECEIVED_SHARE)
    expect(findLeaks(dumps)).toEqual([])
  }, 300_000)

  test('writes no secret to crash files with the filter', async () => {
    const crashes = async (filter_sensitive_data: boolean) => {
      const setup = await createSetup({ ...ON_SQLITE, empty: ON_SQLITE.fresh }, { enable_breadcrumbs: true })
      let files = ''
      for (const [i, part] of splitIntoParts(
        filter_sensitive_data ? SPREAD_SAMPLES : PROBE_SAMPLES,
        CRASH_LENGTH,
      ).entries()) {
        const values = JSON.parse(toJson(part.flatMap((sample) => ('data' in sample ? [sample.data] : []))))
        const crash_capture_path = `${setup.crash_path}-${i}`
        const settings = { ...setup.settings, filter_sensitive_data, crash_capture_path }
        await run('crash-with-secrets', { settings, values, texts: part.map(({ text }) => text) })
        expect(filesIn(crash_capture_path)).toHaveLength(1)
        files += readFiles(crash_capture_path)
      }
      return files
    }
    expectSecrets('crash files', await crashes(false))
    expect(findLeaks(await crashes(true))).toEqual([])
  }, 300_000)
})

const NOTE_LENGTH = 950
/** A dump contains this many breadcrumbs. */
const CRUMBS_PER_DUMP = 100
const CRASH_LENGTH = 9000

/** Everything that leaves the tracker, by sink. */
async function collectOutputs(filter_sensitive_data: boolean): Promise<Record<string, string>> {
  const inboxes = await Promise.all(CHANNELS.map((settingsFor) => openHttpInbox(settingsFor)))
  for (const inbox of inboxes) onTestFinished(() => inbox.close())
  const mail = await openMailServer()
  const { tracker, url, lines, clock } = await freshTracker(ON_SQLITE, {
    ...Object.assign({}, mail.settings, ...inboxes.map(({ settings }) => settings)),
    ...{ ...CAPTURE, filter_sensitive_data, dashboard_base_url: 'https://shop.example' },
    ...{ severity_thresholds: { incident: 'low' }, notification_max_per_hour: 100_000 },
  })
  clock.now = null
  const parts = partsFor(filter_sensitive_data, SPREAD_SAMPLES)
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
  const call = async (name: string, toolInput: object) =>
    JSON.stringify(await mcp('tools/call', { name, arguments: toolInput }))
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
