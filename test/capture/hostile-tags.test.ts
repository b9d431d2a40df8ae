import { createServer, type RequestListener } from 'node:http'
import { BasicTracerProvider } from '@opentelemetry/sdk-trace-base'
import express from 'express'
import { expect, onTestFinished, test } from 'vitest'
import { reportingEndpoint } from '../../src/reporting/endpoint.js'
import { sentryIntake } from '../../src/reporting/sentry/intake.js'
import { FaultboardSpanProcessor } from '../../src/subscribers/opentelemetry.js'
import type { TrackerInstance } from '../../src/tracker.js'
import { createEnvelope, KEY } from '../reporting/sentry/intake-host.js'
import { describeEachDatabase } from '../support/databases.js'
import { type Host, startHost, startListening } from '../support/host.js'
import { withDatabase } from '../support/tracker.js'

type Tags = Record<string, unknown>

/** Parsed, because a literal would set the prototype. */
const ODD_TAGS: Tags = JSON.parse(`{
  "__proto__": "polluted", "constructor": "y", "aws:region": "eu-1", "k=v": "a=b",
  "line\\nbreak\\u0000\\u001b[31m\\ud800": "a\\nb", "'; drop table x; --": "<script>",
  "count": 3, "flag": true, "nothing": null, "list": ["x", 1], "map": { "__proto__": { "polluted": 1 } }, "": "no key", " ": "blank"
}`)
ODD_TAGS['k'.repeat(10_000)] = 'v'.repeat(10_000)
const MANY_TAGS: Tags = Object.fromEntries(Array.from({ length: 2000 }, (_, i) => [`key${i}`, `v${i}`]))

/** Sends an error with tags, or with attributes in case of OpenTelemetry. */
type Entrance = (tracker: TrackerInstance, error_type: string, tags: Tags) => Promise<void>

const ENTRANCES: Readonly<Record<string, Entrance>> = {
  async LogError(tracker, error_type, tags) {
    await tracker.Commands.LogError.call({ error_type, message: 'x', tags })
  },
  async 'the reporting endpoint'(tracker, error_type, tags) {
    const endpoint = reportingEndpoint({ tracker })
    const error = { error_type, message: 'x', platform: 'Web', app_version: '1', tags }
    await post((request, response) => void endpoint.node(request, response), '/', JSON.stringify({ error }))
  },
  async 'the Sentry intake'(tracker, error_type, tags) {
    const app = express().use(sentryIntake({ keys: [KEY], tracker }).express)
    const event = { exception: { values: [{ type: error_type, value: 'x' }] }, tags }
    await post(app, `/api/1/envelope/?sentry_key=${KEY}`, createEnvelope([{ type: 'event' }, event]))
  },
  async 'the Sentry intake as pairs'(tracker, error_type, tags) {
    const app = express().use(sentryIntake({ keys: [KEY], tracker }).express)
    const event = { exception: { values: [{ type: error_type, value: 'x' }] }, tags: Object.entries(tags) }
    await post(app, `/api/1/envelope/?sentry_key=${KEY}`, createEnvelope([{ type: 'event' }, event]))
  },
  async 'an import'(tracker, error_type, tags) {
    await tracker.Commands.LogError.call({ error_type, message: 'x' })
    const lines: { number: number; text: string }[] = []
    for await (const line of tracker.Queries.ExportErrors.records()) {
      if (line.kind === 'error') {
        if (line.error.error_type !== error_type) continue
        for (const occurrence of line.occurrences) Object.assign(occurrence, { context: { tags } })
      }
      lines.push({ number: lines.length + 1, text: JSON.stringify(line) })
    }
    const error_ids = (await tracker.Queries.ErrorsList.call({ query: `type:${error_type}` })).map(({ id }) => id)
    await tracker.Commands.BatchDeleteErrors.call({ error_ids })
    expect(await tracker.Commands.ImportErrors.call({ lines: stream(lines) })).toMatchObject({
      created: 1,
      rejected: 0,
    })
  },
}

async function* stream<T>(items: readonly T[]): AsyncGenerator<T> {
  yield* items
}

async function post(listener: RequestListener, path: string, body: string): Promise<void> {
  const server = createServer(listener)
  const headers = { 'content-type': 'application/json' }
  const response = await fetch(`${await startListening(server)}${path}`, { method: 'POST', body, headers })
  server.close()
  server.closeAllConnections()
  expect([response.status, await response.text()]).toEqual([
    expect.toSatisfy((status) => status < 300),
    expect.anything(),
  ])
}

async function openHost(url: string) {
  const host = await startHost(url)
  onTestFinished(() => host.close())
  const list = async (query: string) =>
    (await host.json(`/errors.json?${query}`)) as unknown as { errors: { id: number; error_type: string }[] }
  return {
    ...host,
    types: async (query: string) => (await list(query)).errors.map(({ error_type }) => error_type).join(' '),
    pageOf: (error_type: string) => errorPage(host, error_type, list),
    suggest: async (start: string) =>
      ((await host.json(`/errors/tags.json?start=${encodeURIComponent(start)}`)) as unknown as { tags: string[] }).tags,
    storedTags: () => withDatabase(url, ({ read }) => read.selectFrom('faultboard_error_tags').selectAll().execute()),
  }
}

async function errorPage(
  host: Host,
  error_type: string,
  list: (query: string) => Promise<{ errors: { id: number }[] }>,
): Promise<string> {
  const id = (await list(`error_type=${error_type}`)).errors[0]?.id
  expect((await host.get(`/errors/${id}.json`)).status).toBe(200)
  const response = await host.get(`/errors/${id}`)
  expect(response.status).toBe(200)
  return response.text()
}

/** Entrances that store in different ways. The others fill the same draft as LogError and share its pipeline. */
const STORING_ENTRANCES = ['LogError', 'an import']

/** More tags than parameters of a statement. MySQL receives them as text and has no limit. */
const HUGE_TAG_COUNT = { sqlite: 33_000, postgres: 66_000, mysql: 33_000 }

describeEachDatabase('hostile tags', (database) => {
  const isTested = (name: string) => database.dialect === 'sqlite' || STORING_ENTRANCES.includes(name)
  test.each(Object.entries(ENTRANCES).filter(([name]) => isTested(name)))(
    'hostile tags of %s are limited, marked and found',
    async (_name, send) => {
      const { tracker, types, pageOf, suggest, storedTags } = await openHost(await database.fresh())
      await send(tracker, 'Odd', ODD_TAGS)
      await send(tracker, 'Many', MANY_TAGS)
      expect(Object.hasOwn(Object.prototype, 'polluted')).toBe(false)

      const odd = await pageOf('Odd')
      expect(odd).not.toContain('<script>"')
      for (const [filter, found] of [
        ['tag=constructor:y', 'Odd'],
        ['tag=__proto__:polluted', 'Odd'],
        ['tag=aws:region:eu-1', 'Odd'],
        ['tag=k%3Dv:a%3Db', 'Odd'],
        ['tag=count:3', 'Odd'],
        ['tag=flag:true', 'Odd'],
        [`tag=${encodeURIComponent("'; drop table x; --:<script>")}`, 'Odd'],
        ['query=-tag:constructor', 'Many'],
        ['tag=key0:v0', 'Many'],
      ] as const)
        expect([filter, await types(filter)]).toEqual([filter, found])
      const links = [...odd.matchAll(/<a href="[^"?]*\/errors\?(tag=[^"]*)"/g)].map(([, query = '']) => query)
      expect(links.length).toBeGreaterThan(8)
      for (const link of links) expect([link, await types(link)]).toEqual([link, 'Odd'])

      expect(await pageOf('Many')).toMatch(/\d+ more not stored|Too many tags: filters find the first 100 names/)
      const stored = await storedTags()
      const keys = new Set(stored.map(({ tag_key }) => tag_key))
      expect(keys.size).toBeLessThan(200)
      for (const { tag_key, tag_value } of stored) {
        expect(tag_key.length).toBeLessThanOrEqual(64)
        expect(tag_value.length).toBeLessThanOrEqual(200)
        expect(`${tag_key}${tag_value}`).not.toMatch(/[\0\n\ud800]/)
      }
      expect(await suggest('const')).toEqual(['constructor='])
      expect(await suggest('constructor=')).toEqual(['constructor=y'])
      expect(await suggest('key')).toHaveLength(20)
      // Marks are not tags.
      expect(await suggest('…')).toEqual([])
    },
  )

  test('hostile tags beyond the number of parameters of a statement do not break the page of an error', async () => {
    const { tracker, pageOf, types } = await openHost(await database.fresh())
    const tags = Object.fromEntries(
      Array.from({ length: HUGE_TAG_COUNT[database.dialect] }, (_, i) => [`key${i}`, `v${i}`]),
    )
    await ENTRANCES['an import']?.(tracker, 'Huge', tags)
    expect(await types('tag=key0:v0')).toBe('Huge')
    expect(await pageOf('Huge')).toMatch(/\/errors\?tag=key0/)
  })

  test('hostile OpenTelemetry attributes are limited and do not become tags', async () => {
    const { tracker, pageOf, storedTags } = await openHost(await database.fresh())
    const processor = new FaultboardSpanProcessor({ tracker })
    const provider = new BasicTracerProvider({
      spanProcessors: [processor],
      spanLimits: { attributeCountLimit: 20_000 },
    })
    onTestFinished(() => provider.shutdown())
    for (const [error_type, attributes] of [
      ['Odd', ODD_TAGS],
      ['Many', MANY_TAGS],
    ] as const) {
      const span = provider.getTracer('test').startSpan('GET /', { attributes: attributes as never })
      span.recordException({
        name: error_type,
        message: 'x',
        stack: `${error_type}: x\n    at f (/srv/${error_type}.js:1:1)`,
      })
      span.end()
    }
    await processor.forceFlush()
    await tracker.flush()
    expect(Object.hasOwn(Object.prototype, 'polluted')).toBe(false)
    expect(await pageOf('Odd')).toContain('aws:region')
    expect(await pageOf('Many')).toMatch(/\d+ more not stored/)
    expect(await storedTags()).toEqual([])
  })

  test('an error is marked once its occurrences have too many different tag names', async () => {
    const { tracker, types, pageOf, suggest, storedTags } = await openHost(await database.fresh())
    for (let i = 0; i < 5; i++) {
      const tags = Object.fromEntries(Array.from({ length: 40 }, (_, j) => [`key${i}-${j}`, 'v']))
      await tracker.Commands.LogError.call({ error_type: 'Growing', message: 'x', tags })
      expect((await pageOf('Growing')).includes('Too many tags'), `occurrence ${i}`).toBe(i > 1)
    }
    expect(await storedTags()).toHaveLength(101)
    expect([await types('tag=key2-19'), await types('tag=key2-20')]).toEqual(['Growing', ''])
    expect(await suggest('…')).toEqual([])
  })
})
