import fc from 'fast-check'
import type { LogErrorInput } from '../../../src/index.js'
import { startOfHour } from '../../../src/model/time.js'
import type { Settings } from '../../../src/options.js'
import { NOW, randomOccurrences } from '../../analytics/random-occurrences.js'
import { ORDINARY_COUNTED, storeCounted } from '../../diagnostics/hourly-samples.js'
import { ORDINARY, storeSamples } from '../../diagnostics/samples.js'
import { type Host, startHost } from '../host.js'
import { ALL_PAGES_ON, HOSTILE_MARKUP } from '../hostile.js'
import { eventually, withDatabase } from '../tracker.js'

/** Enables every optional page and metric. */
export const EVERYTHING_ON: Settings = {
  ...ALL_PAGES_ON,
  enable_chat_notifications: true,
  chat_webhook_url: 'http://127.0.0.1:9/chat',
  // Background jobs would change the compared responses.
  run_jobs: false,
}

/** Two days, because each hour takes a transaction. */
export const CASCADE_HOURS = 48

/** Starts a host with a fixed clock on a database with weeks of usage. */
export async function usedHost(database: string, { seed = 7 } = {}): Promise<Host> {
  const host = await hostAt(database)
  await useForWeeks(host, seed)
  await storeSamples(database, NOW, ORDINARY)
  await storeCounted(database, NOW, ORDINARY_COUNTED)
  await storeSourceMap(database)
  await storeReportedEvent(database)
  await storePerson(database)
  await storeFailedJob(database)
  await storeClientRows(database)
  await withDatabase(database, ({ read }) => {
    const minute = read.selectFrom('faultboard_process_minutes').select('minute')
    return eventually(async () => (await minute.executeTakeFirst()) !== undefined, 'the process is registered')
  })
  return host
}

/** Starts the host on an existing database. */
export function hostAt(database: string): Promise<Host> {
  return startHost(database, EVERYTHING_ON, { now: () => NOW, random: () => 0.5 })
}

async function useForWeeks({ tracker, post }: Host, seed: number): Promise<void> {
  const { Commands, Services } = tracker
  const [events = []] = fc.sample(randomOccurrences, { numRuns: 1, seed })
  const logged: Promise<unknown>[] = []
  const log = (error: LogErrorInput) => void logged.push(Commands.LogError.call(error))
  for (const { file, user_id, ...event } of events) {
    log({
      ...event,
      user_id: user_id ?? undefined,
      git_sha: 'a1b2c3d4e5f6',
      request_url: `https://shop.example/${file}?q=1`,
      request_params: { q: 1, nested: { list: [1, 'two', null] } },
      ip_address: '192.0.2.1',
      user_agent: 'Mozilla/5.0',
      tags: { file },
      context: { order: { id: 7, total: 12.5 } },
      request: { method: 'GET', route: `/${file}`, headers: { accept: '*/*' }, content_type: 'text/plain' },
      backtrace: [`at run (${process.cwd()}/src/${file}.ts:1:1)`, 'at next (/srv/node_modules/express/index.js:2:2)'],
    })
  }
  // A daily error provides a baseline, and a second error follows it as a cascade.
  for (let i = 1; i <= 60; i++) {
    const at = NOW - i * 4 * 3_600_000
    for (const [error_type, delay] of [
      ['SteadyError', 0],
      ['FollowerError', 5000],
    ] as const) {
      log({ error_type, message: 'again', platform: 'Web', user_id: 'ann', occurred_at: new Date(at + delay) })
    }
  }
  // Each error has its own type, because similarity needs at least ten types.
  for (const name of 'GHIJKLMN') {
    log({
      exception: Object.assign(
        new Error(`${name} ${HOSTILE_MARKUP} 🎉 日本語`, { cause: new TypeError('cascade of the daily error') }),
        {
          name: `Kind${name}Error`,
          code: 'E_KIND',
        },
      ),
      occurred_at: new Date(NOW - 60_000 * name.charCodeAt(0)),
      platform: 'API',
    })
  }
  await Promise.all(logged)
  const errors = await tracker.Queries.ErrorsList.call({ per_page: 100 })
  for (const [i, { id: error_id }] of errors.entries()) {
    if (i % 3 === 0)
      await Commands.AddComment.call({ error_id, author_name: 'Eve', body: `Seen ${HOSTILE_MARKUP}\nagain` })
    if (i % 4 === 0) await Commands.AssignError.call({ error_id, assigned_to: 'eve@example.org', actor: 'Ann' })
    if (i % 5 === 0) await Commands.SnoozeError.call({ error_id, hours: 5, reason: 'later', actor: 'Ann' })
    if (i % 7 === 1) await Commands.MuteError.call({ error_id, reason: 'known', muted_by: 'Ann' })
    if (i % 6 === 2) await Commands.ResolveError.call({ error_id, resolved_by: 'Bob', resolution_comment: 'done' })
    await Commands.UpdatePriority.call({ error_id, priority_level: i % 5, actor: 'Ann' })
  }
  await Services.CascadeDetector.call({ lookback_hours: CASCADE_HOURS })
  await Services.BaselineCalculator.calculateAllBaselines()
  await Commands.CreateApiToken.call({ name: 'ci', role: 'viewer', expires_in_days: 30, created_by: 'Ann' })
  await Commands.SaveView.call({ name: 'mine', query: 'severity=high', created_by: 'Ann' })
  for (const note of ['before', 'after']) await post('/errors/diagnostic_dumps', { note })
  await tracker.flush()
}

async function storePerson(database: string): Promise<void> {
  const person = { name: 'Ann', email: 'ann@shop.example', last_seen_at: NOW }
  await withDatabase(database, ({ read }) => read.insertInto('faultboard_people').values(person).execute())
}

async function storeSourceMap(database: string): Promise<void> {
  await withDatabase(database, ({ read }) =>
    read
      .insertInto('faultboard_source_maps')
      .values({
        application_id: 1,
        release_name: '1.10.0',
        file_name: 'https://shop.example/assets/app.js',
        file_digest: 'a'.repeat(64),
        debug_id: null,
        folder: 'dist',
        packed_map: 'H4sIAAAAAAAAA6tWAgCVBxZCAgAAAA=='.repeat(1000),
        packed_code: null,
        map_bytes: 2,
        packed_bytes: 32_000,
        created_at: NOW,
      })
      .execute(),
  )
}

async function storeReportedEvent(database: string): Promise<void> {
  const event = { application_id: 1, event_digest: 'b'.repeat(32), batch_id: 'c'.repeat(36), created_at: NOW }
  await withDatabase(database, ({ read }) => read.insertInto('faultboard_reported_events').values(event).execute())
}

async function storeFailedJob(database: string): Promise<void> {
  const job = {
    name: 'cleanup',
    payload: '{}',
    state: 'failed',
    attempts: 5,
    max_attempts: 5,
    last_error: 'Error: full',
  }
  const times = { run_at: NOW, created_at: NOW, finished_at: NOW }
  await withDatabase(database, ({ read }) =>
    read
      .insertInto('faultboard_jobs')
      .values({ ...job, ...times })
      .execute(),
  )
}

/** Creates rows that only client errors produce. */
async function storeClientRows(database: string): Promise<void> {
  await withDatabase(database, async ({ read }) => {
    const release = {
      application_id: 1,
      platform: 'Browser',
      version: '1.10.0',
      environment: 'test',
      first_seen_at: NOW,
    }
    await read.insertInto('faultboard_client_releases').values(release).execute()
    const rejection = { budget: 'client_max_requests_per_minute', budget_digest: 'd'.repeat(64), count: 3 }
    await read
      .insertInto('faultboard_rejection_hours')
      .values({ application_id: 1, hour: startOfHour(NOW), ...rejection, first_seen_at: NOW, last_seen_at: NOW })
      .execute()
  })
}
