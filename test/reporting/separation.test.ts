import { expect, test } from 'vitest'
import type { Settings } from '../../src/options.js'
import { reportingEndpoint } from '../../src/reporting/endpoint.js'
import { sentryIntake } from '../../src/reporting/sentry/intake.js'
import type { TrackerInstance } from '../../src/tracker.js'
import { describeOneDatabase } from '../support/databases.js'
import { freshTracker, NOON, temporaryFolder, trackerAt } from '../support/tracker.js'
import { reportingClient, serve } from './reporting-host.js'
import { createEnvelope, KEY } from './sentry/intake-host.js'

const MINUTE = 60_000
const PLACE = 'at total (src/cart.js:46:136)'
const SERVER_ERROR = { error_type: 'Error', message: 'poison-me', backtrace: [PLACE], platform: 'Web' }

interface Forged {
  app_version: string
  fingerprint?: string[]
  user_id?: string
  message?: string
}

/** Client functions that forge a server error through the reporting endpoint or the Sentry intake. */
async function createClients(tracker: TrackerInstance) {
  const reporting = reportingEndpoint({ tracker, trust_user: true })
  const intake = sentryIntake({ tracker, keys: [KEY] })
  const origin = await serve((request, response) =>
    (request.url?.startsWith('/sentry') ? intake : reporting).node(request, response),
  )
  const { post } = reportingClient(`${origin}/client_errors`)
  return {
    async report({ app_version, user_id, message = 'poison-me' }: Forged): Promise<void> {
      const error = { error_type: 'Error', message, platform: 'web', app_version, user_id }
      const { status } = await post({ error: { ...error, stack: `Error: ${message}\n    ${PLACE}` } })
      expect(status).toBe(201)
    },
    async sentry({ app_version, fingerprint, user_id, message = 'poison-me' }: Forged): Promise<void> {
      const frames = [{ function: 'total', filename: 'src/cart.js', lineno: 46, colno: 136, in_app: true }]
      const event = {
        ...{ platform: 'javascript', level: 'fatal', release: `shop@${app_version}`, user: { id: user_id } },
        ...{ fingerprint, exception: { values: [{ type: 'Error', value: message, stacktrace: { frames } }] } },
      }
      const url = `${origin}/sentry/api/1/envelope/?sentry_key=${KEY}`
      const response = await fetch(url, { method: 'POST', body: createEnvelope([{ type: 'event' }, event]) })
      expect(response.status).toBe(200)
    },
  }
}

describeOneDatabase('Client that forges a server error', (database) => {
  const serverAndClients = async (settings: Settings = {}) => {
    const host = await freshTracker(database, { app_version: '1.2.0', project_root: temporaryFolder(), ...settings })
    const clients = await createClients(host.tracker)
    const recorded = await host.tracker.Commands.LogError.call(SERVER_ERROR)
    const error_id = recorded?.id ?? 0
    return { ...host, ...clients, error_id, hash_signature: recorded?.hash_signature ?? '' }
  }

  test.each(['report', 'sentry'] as const)(
    'a client that forges a server error cannot reopen, regrade or regress it through %s',
    async (client) => {
      const host = await serverAndClients()
      host.clock.now = NOON + MINUTE
      await host.tracker.Commands.ResolveError.call({ error_id: host.error_id, resolved_by: 'Ada' })
      host.clock.now = NOON + 2 * MINUTE
      await host[client]({ app_version: '999.0.0', user_id: 'ceo' })
      await host.tracker.flush()
      expect(await host.tracker.Queries.FindError.call({ error_id: host.error_id })).toMatchObject({
        ...{ status: 'resolved', occurrence_count: 1, severity: 'low', app_version: '1.2.0', user_count: 0 },
        ...{ source: null, regressed_in_version: null, resolved_in_version: '1.2.0' },
      })
      const [recorded] = await host.tracker.Queries.ErrorsList.call({ unresolved: true })
      expect(recorded).toMatchObject({ source: client === 'report' ? 'reporting' : 'sentry', occurrence_count: 1 })
    },
  )

  test('a client that forges a server error cannot join its group with a fingerprint', async () => {
    const host = await serverAndClients({ custom_fingerprint: () => 'checkout' })
    await host.sentry({ app_version: '1', fingerprint: ['checkout'] })
    await host.sentry({ app_version: '1', fingerprint: ['{{ default }}'] })
    await host.report({ app_version: '1' })
    await host.tracker.flush()
    expect(await host.tracker.Queries.FindError.call({ error_id: host.error_id })).toMatchObject({
      occurrence_count: 1,
    })
    const errors = await host.tracker.Queries.ErrorsList.call()
    expect(errors.map(({ source, occurrence_count }) => [source, occurrence_count]).sort()).toEqual([
      [null, 1],
      ['reporting', 1],
      ['sentry', 2],
    ])
  })

  test('a client that forges a server error cannot keep it resolved with a newer version for its platform', async () => {
    const host = await serverAndClients()
    await host.report({ app_version: '999.0.0' })
    await host.tracker.flush()
    host.clock.now = NOON + MINUTE
    await host.tracker.Commands.ResolveError.call({ error_id: host.error_id, resolved_by: 'Ada' })
    host.clock.now = NOON + 2 * MINUTE
    await host.tracker.Commands.LogError.call({ ...SERVER_ERROR, app_version: '1.3.0' })
    expect(await host.tracker.Queries.FindError.call({ error_id: host.error_id })).toMatchObject({
      ...{ status: 'new', occurrence_count: 2, regressed_in_version: '1.3.0' },
    })
  })

  test('a client that forges a server error cannot add the release that a server release is compared with', async () => {
    const host = await serverAndClients()
    await host.report({ app_version: '1.2.9' })
    host.clock.now = NOON + MINUTE
    await host.tracker.Commands.LogError.call({ ...SERVER_ERROR, app_version: '1.3.0' })
    await host.report({ app_version: '999.0.0' })
    await host.tracker.flush()
    const { releases } = await host.tracker.Queries.Releases.call()
    expect(
      Object.fromEntries(releases.map(({ app_version, before_version }) => [app_version, before_version])),
    ).toEqual({ '999.0.0': '1.2.9', '1.3.0': '1.2.0', '1.2.9': null, '1.2.0': null })
  })

  test('a client that forges a server error cannot cause the messages of its location to share one group', async () => {
    const host = await serverAndClients({ max_groups_per_place: 2 })
    for (const message of ['one', 'two', 'three']) await host.report({ app_version: '1', message })
    await host.tracker.Commands.LogError.call({ ...SERVER_ERROR, message: 'another' })
    const errors = await host.tracker.Queries.ErrorsList.call({ search: 'another' })
    expect(errors).toMatchObject([{ message: 'another', occurrence_count: 1, source: null }])
  })

  test('a client that forges a server error still regresses its own error with its own versions', async () => {
    const host = await serverAndClients()
    await host.report({ app_version: '2.0.0' })
    await host.tracker.flush()
    const [client] = await host.tracker.Queries.ErrorsList.call({ app_version: '2.0.0' })
    const error_id = client?.id ?? 0
    host.clock.now = NOON + MINUTE
    await host.tracker.Commands.ResolveError.call({ error_id, resolved_by: 'Ada' })
    host.clock.now = NOON + 2 * MINUTE
    await host.report({ app_version: '2.1.0' })
    await host.tracker.flush()
    expect(await host.tracker.Queries.FindError.call({ error_id })).toMatchObject({
      ...{ resolved: false, regressed_in_version: '2.1.0', source: 'reporting' },
    })
  })

  test('a client error keeps its source and its releases through an export and an import', async () => {
    const host = await serverAndClients()
    await host.report({ app_version: '2.0.0' })
    await host.tracker.flush()
    const copy = trackerAt({ url: await database.fresh(), spool_path: temporaryFolder() })
    async function* lines() {
      let number = 0
      for await (const line of host.tracker.Queries.ExportErrors.records()) {
        yield { number: ++number, text: JSON.stringify(line) }
      }
    }
    expect((await copy.tracker.Commands.ImportErrors.call({ lines: lines() })).created).toBe(2)
    const errors = await copy.tracker.Queries.ErrorsList.call()
    expect(errors.map(({ source }) => source).sort()).toEqual([null, 'reporting'])
    const { releases } = await copy.tracker.Queries.Releases.call()
    expect(releases.map(({ app_version, before_version }) => [app_version, before_version])).toEqual([
      ['2.0.0', null],
      ['1.2.0', null],
    ])
  })
})
