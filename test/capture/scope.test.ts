import { createServer } from 'node:http'
import { setTimeout as pause } from 'node:timers/promises'
import express from 'express'
import { expect, onTestFinished, test } from 'vitest'
import { capture, dashboard } from '../../src/adapters/express.js'
import type { Settings } from '../../src/options.js'
import type { TrackerInstance } from '../../src/tracker.js'
import { describeEachDatabase, type TestDatabase } from '../support/databases.js'
import { startListening } from '../support/host.js'
import { freshTracker } from '../support/tracker.js'

describeEachDatabase(
  'scope',
  (database) => {
    test('keeps the data of 100 concurrent requests separate', async () => {
      const { tracker, fetchAll, errors } = await startHost(database, { request_scope: 'always' })
      await fetchAll(Array.from({ length: 100 }, (_, i) => `/order/${i}`))
      const recorded = await errors()
      expect(recorded).toHaveLength(100)
      for (const { request_url, context, tags, user_id } of recorded) {
        const id = /order\/(\d+)/.exec(request_url ?? '')?.[1]
        expect({ context, tags, user_id }).toEqual({
          context: { order: Number(id), step: 'payment' },
          tags: { lane: Number(id) % 3 },
          user_id: `user-${id}`,
        })
      }
      expect((await tracker.stats()).dropped).toEqual({})
    })

    test('creates scopes in auto mode after the first use', async () => {
      const { fetchAll, errors } = await startHost(database)
      await fetchAll(['/order/1'])
      await fetchAll(['/order/2', '/order/3'])
      const contexts = (await errors()).map(({ context }) => context.order)
      expect(contexts).toEqual(expect.arrayContaining([2, 3]))
    })

    test('creates scopes in auto mode after the first report', async () => {
      const { fetchAll, errors } = await startHost(database)
      await fetchAll(['/report', '/log'])
      await fetchAll(['/report?second', '/log?second'])
      const urls = (await errors()).map(({ request_url }) => request_url ?? '')
      expect(urls).toEqual(
        expect.arrayContaining([expect.stringContaining('/report?second'), expect.stringContaining('/log?second')]),
      )
    })

    test('adds the current request to LogError and report', async () => {
      const { fetchAll, errors } = await startHost(database, { request_scope: 'always' })
      await fetchAll(['/report?token=abc', '/log'])
      const [log, report] = (await errors()).sort((a, b) => a.message.localeCompare(b.message))
      expect(report).toMatchObject({
        message: 'reported',
        request_url: expect.stringContaining('/report?token=[FILTERED]'),
        user_agent: 'node',
        ip_address: expect.stringContaining('127.0.0.1'),
        request: { method: 'GET', headers: { host: expect.stringContaining('127.0.0.1') } },
      })
      expect(log?.request_url).toContain('/log')
    })

    test('creates no scope if scopes are disabled', async () => {
      const { fetchAll, errors } = await startHost(database, { request_scope: 'never' })
      await fetchAll(['/order/1', '/order/2', '/report'])
      const recorded = await errors()
      expect(recorded).toHaveLength(3)
      for (const { context, tags } of recorded) expect({ context, tags }).toEqual({ context: {}, tags: {} })
    })

    test('inherits data from the outer scope without changing it', async () => {
      const { tracker } = await freshTracker(database)
      const record = async (message: string) => {
        const logged = await tracker.report(new Error(message))
        const { context, tags } = await tracker.Queries.FindError.call({ error_id: logged?.id ?? 0 })
        return { context, tags }
      }
      await tracker.withScope(async () => {
        tracker.setTags({ queue: 'mail' })
        const inner = await tracker.withScope(async () => {
          await pause(1)
          tracker.setContext({ job: 1 })
          return record('inner')
        })
        expect(inner).toEqual({ context: { job: 1 }, tags: { queue: 'mail' } })
        expect(await record('outer')).toEqual({ context: {}, tags: { queue: 'mail' } })
      })
      expect(await record('outside')).toEqual({ context: {}, tags: {} })
    })

    test('prefers data passed with the error to data of the scope', async () => {
      const { tracker } = await freshTracker(database)
      await tracker.withScope(async () => {
        tracker.setContext({ step: 'one', kept: true })
        tracker.setUser(1)
        const logged = await tracker.report(new Error('x'), { context: { step: 'two' }, user_id: 2 })
        const recorded = await tracker.Queries.FindError.call({ error_id: logged?.id ?? 0 })
        expect(recorded).toMatchObject({ context: { step: 'two', kept: true }, user_id: '2' })
      })
    })

    test('accepts any value, bounded and without secrets', async () => {
      const { tracker } = await freshTracker(database)
      const circular: Record<string, unknown> = { api_key: 'secret-1', many: Array.from({ length: 10_000 }, returnOne) }
      circular.self = circular
      await tracker.withScope(async () => {
        tracker.setContext(circular)
        tracker.setTags({ session_token: 'secret-2', long: 'x'.repeat(10_000) })
        const logged = await tracker.report(new Error('x'))
        const recorded = await tracker.Queries.FindError.call({ error_id: logged?.id ?? 0 })
        expect(JSON.stringify(recorded)).not.toMatch(/secret-\d/)
        expect(JSON.stringify(recorded).length).toBeLessThan(20_000)
        expect(recorded.tags).toMatchObject({ session_token: '[FILTERED]' })
      })
    })
  },
  { except: ['postgres', 'mysql'] },
)

async function startHost(database: TestDatabase, settings: Settings = {}) {
  const { tracker } = await freshTracker(database, settings)
  const server = createServer(createApp(tracker))
  const origin = await startListening(server)
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  return {
    tracker,
    fetchAll: (paths: string[]) => Promise.all(paths.map(async (path) => (await fetch(`${origin}${path}`)).text())),
    async errors() {
      await tracker.flush()
      const listed = await tracker.Queries.ErrorsList.call({ per_page: 100 })
      const recorded = await Promise.all(listed.map(({ id }) => tracker.Queries.FindError.call({ error_id: id })))
      // All orders fail at one location, so the occurrences distinguish them.
      return recorded.flatMap(({ message, occurrences }) =>
        recorded.length === 1 ? occurrences : [{ ...occurrences[0], message } as (typeof occurrences)[0]],
      )
    },
  }
}

function createApp(tracker: TrackerInstance) {
  return express()
    .use(dashboard(tracker))
    .get('/order/:id', async (request) => {
      await pause(Math.random() * 10)
      await setScopeData(tracker, Number(request.params.id))
      await pause(Math.random() * 10)
      throw Object.assign(new Error(`order ${'abcdefghij'.charAt(Number(request.params.id) % 10)} failed`), {
        name: `Order${request.params.id}Error`,
      })
    })
    .get('/report', async (_request, response) => {
      await pause(1)
      await tracker.report(new Error('reported'))
      response.end()
    })
    .get('/log', async (_request, response) => {
      await tracker.Commands.LogError.call({ exception: new Error('logged') })
      response.end()
    })
    .use(capture(tracker))
}

async function setScopeData(tracker: TrackerInstance, id: number): Promise<void> {
  tracker.setContext({ order: id })
  await pause(Math.random() * 5)
  tracker.setContext({ step: 'payment' })
  tracker.setTags({ lane: id % 3 })
  tracker.setUser(`user-${id}`)
}

function returnOne(): number {
  return 1
}
