import { readdirSync, readFileSync } from 'node:fs'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { text as readAll } from 'node:stream/consumers'
import { sql } from 'kysely'
import { SMTPServer } from 'smtp-server'
import { describe, expect, onTestFinished, test } from 'vitest'
import type { LogErrorInput } from '../../src/capture/fields.js'
import type { Settings } from '../../src/config/options.js'
import { createServer } from '../../src/mcp/server.js'
import type { TrackerInstance } from '../../src/tracker.js'
import { openHttpInbox } from '../contract/http-inbox.js'
import { ON_SQLITE } from '../reporting/sentry/intake-host.js'
import { describeEachDatabase } from '../support/databases.js'
import { parseMail } from '../support/mime.js'
import { secretSamples } from '../support/secrets/corpus.js'
import { CREDENTIALS, eventually, freshTracker, temporaryFolder, trackerAt, withDatabase } from '../support/tracker.js'
import { filesIn, run, setScene } from './fixtures/deaths.js'

const SAMPLES = secretSamples()
const TEXTS = SAMPLES.flatMap((sample) => ('text' in sample ? [sample.text] : []))
const VALUES = SAMPLES.flatMap((sample) => ('data' in sample ? [sample.data] : []))
const TEXTS_PER_ERROR = 25
const ERRORS = Math.ceil(TEXTS.length / TEXTS_PER_ERROR)

const share = <T>(all: readonly T[], part: number): T[] =>
  all.slice(Math.floor((part * all.length) / ERRORS), Math.floor(((part + 1) * all.length) / ERRORS))

/** Ten characters of a secret are enough to prove a leak. */
const WINDOW = 10
const HEADS = new Map(SAMPLES.map(({ secret }) => [secret.slice(0, WINDOW), secret]))
const TAILS = new Map(SAMPLES.map(({ secret }) => [secret.slice(-WINDOW), secret]))

/** The secrets whose beginning or end an output shows. */
function leaksIn(output: string): string[] {
  const found = new Set<string>()
  for (const { 0: run } of output.matchAll(/[\dA-Za-z]{10,}/g)) {
    for (let i = 0; i + WINDOW <= run.length; i++) {
      const part = run.slice(i, i + WINDOW)
      const secret = HEADS.get(part) ?? TAILS.get(part)
      if (secret !== undefined) found.add(secret)
    }
  }
  return [...found]
}

/** An error that carries its share of all samples in every field. */
function leakyError(part: number): LogErrorInput {
  const texts = share(TEXTS, part)
  const message = texts.join('\n')
  return {
    exception: Object.assign(new Error(message, { cause: new Error(message) }), { name: `Leak${part}` }),
    request_url: texts.find((text) => text.startsWith('/')) ?? `/items?note=${encodeURIComponent(texts[0] ?? '')}`,
    request_params: { values: share(VALUES, part) },
    context: { texts, values: share(VALUES, part) },
    tags: { note: texts[0] ?? '' },
    user_agent: texts[1] ?? '',
    request: { method: 'POST', route: texts[2] ?? '/', headers: { referer: texts[3] ?? '' } },
  }
}

async function logAll(tracker: TrackerInstance, parts = ERRORS): Promise<void> {
  for (let part = 0; part < parts; part++) {
    await tracker.withScope(async () => {
      for (const message of share(TEXTS, part))
        tracker.addBreadcrumb({
          category: 'text',
          message,
          metadata: { message, values: share(VALUES, part).slice(0, 3) },
        })
      await tracker.Commands.LogError.call(leakyError(part))
    })
  }
}

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

describeEachDatabase('no secret of the corpus', (database) => {
  test('is in any row of any table', async () => {
    const { tracker, url, lines } = await freshTracker(database, { enable_breadcrumbs: true })
    await logAll(tracker)
    expect((await tracker.Queries.ErrorsList.page({})).pagination.total_count).toBe(ERRORS)
    const rows = await allRows(url)
    expect(rows).toContain('[FILTERED]')
    expect(leaksIn(rows)).toEqual([])
    expect(leaksIn(lines.join('\n'))).toEqual([])
  }, 120_000)
})

describe('no secret of the corpus', () => {
  test('is in the database file, JSON, pages, CSV, MCP answers, an export or a message', async () => {
    const inboxes = await Promise.all(CHANNELS.map((settingsFor) => openHttpInbox(settingsFor)))
    for (const inbox of inboxes) onTestFinished(() => inbox.close())
    const mail = await openMailServer()
    const { tracker, url, lines, clock } = await freshTracker(ON_SQLITE, {
      ...Object.assign({}, mail.settings, ...inboxes.map(({ settings }) => settings)),
      ...{ enable_breadcrumbs: true, dashboard_base_url: 'https://shop.example' },
      severity_thresholds: { incident: 'low' },
    })
    clock.now = null
    await logAll(tracker)
    const ids = (await tracker.Queries.ErrorsList.call({ per_page: 100 })).map(({ id }) => id)
    expect(ids).toHaveLength(ERRORS)

    const get = async (path: string, accept: string) => {
      const headers = { authorization: `Basic ${btoa(Object.values(CREDENTIALS).join(':'))}`, accept }
      const exchange = { base: '', path: path.replace(/\?.*/, ''), remote_address: '127.0.0.1' }
      const response = await tracker.handle(new Request(`http://host${path}`, { headers }), exchange)
      expect([path, response.status]).toEqual([path, 200])
      return response.text()
    }
    expect(leaksIn(await get('/errors?per_page=100', 'application/json'))).toEqual([])
    expect(leaksIn(await get('/errors?per_page=100', 'text/html'))).toEqual([])
    expect(leaksIn(await get('/errors.csv', 'text/csv'))).toEqual([])
    const mcp = createServer({ tracker, version: '0', allow_triage: false, log: () => {} })
    for (const id of ids) {
      expect(leaksIn(await get(`/errors/${id}`, 'application/json'))).toEqual([])
      expect(leaksIn(await get(`/errors/${id}`, 'text/html'))).toEqual([])
      const found = await mcp('tools/call', { name: 'get_error', arguments: { error_id: id } })
      expect(JSON.stringify(found)).toContain('FILTERED')
      expect(leaksIn(JSON.stringify(found))).toEqual([])
    }
    expect(leaksIn(JSON.stringify(await mcp('tools/call', { name: 'list_errors', arguments: {} })))).toEqual([])
    const records: string[] = []
    for await (const record of tracker.Queries.ExportErrors.records({})) records.push(JSON.stringify(record))
    expect(records.length).toBeGreaterThanOrEqual(ERRORS)
    expect(leaksIn(records.join('\n'))).toEqual([])

    const received = () => [...inboxes.map(({ letters }) => letters.length), mail.received.length]
    await eventually(() => received().every((count) => count >= ERRORS), 'every channel has a message of every error')
    for (const { letters } of inboxes) expect(leaksIn(letters.map(({ text }) => text).join('\n'))).toEqual([])
    for (const raw of mail.received) {
      const { headers, text, html } = parseMail(raw)
      expect(leaksIn(`${JSON.stringify(headers)}\n${text}\n${html}\n${raw}`)).toEqual([])
    }
    expect(leaksIn(lines.join('\n'))).toEqual([])
    await tracker.shutdown()
    const file = url.replace(/^sqlite:/, '')
    expect(leaksIn(readFileSync(file, 'latin1'))).toEqual([])
  }, 300_000)

  test('is in a spool file or in the log while the database is away', async () => {
    const place = { url: 'postgres://shop@127.0.0.1:1/shop', spool_path: temporaryFolder() }
    const { tracker, lines } = trackerAt(place, { enable_breadcrumbs: true })
    await logAll(tracker)
    const spooled = filesText(place.spool_path)
    expect(spooled).toContain('[FILTERED]')
    expect(leaksIn(spooled)).toEqual([])
    expect(leaksIn(lines.join('\n'))).toEqual([])
  }, 120_000)

  test('is in a dump or its note', async () => {
    const { tracker, url } = await freshTracker(ON_SQLITE, { enable_diagnostic_dump: true, enable_breadcrumbs: true })
    for (let part = 0; part < ERRORS; part += 4) {
      await tracker.withScope(async () => {
        for (const message of share(TEXTS, part)) tracker.addBreadcrumb({ category: 'text', message })
        const note = share(TEXTS, part)
          .join('\n')
          .slice(0, 1000)
          .replace(/\n[^\n]*$/, '')
        await tracker.Commands.CaptureDiagnosticDump.call({ note })
      })
    }
    const rows = await allRows(url)
    expect(rows).toContain('[FILTERED]')
    expect(leaksIn(rows)).toEqual([])
  }, 120_000)

  test('is in a crash file or on standard error of the tracker', async () => {
    const scene = await setScene({ ...ON_SQLITE, empty: ON_SQLITE.fresh }, { enable_breadcrumbs: true })
    const settings = { ...scene.settings, crash_capture_path: scene.crash_path }
    const values = JSON.parse(JSON.stringify(VALUES.filter((_, i) => i % 40 === 0)))
    const texts = TEXTS.filter((_, i) => i % 20 === 0)
    await run('death-with-secrets', { settings, texts, values })
    expect(filesIn(scene.crash_path)).toHaveLength(1)
    const crash = filesText(scene.crash_path)
    expect(crash).toContain('[FILTERED]')
    expect(leaksIn(crash)).toEqual([])
  }, 120_000)
})

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
