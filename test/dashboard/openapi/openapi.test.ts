import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Ajv2020 } from 'ajv/dist/2020.js'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { EVERYTHING_ON, usedHost } from '../../support/databases/lived-in.js'
import { describeEachDatabase } from '../../support/databases.js'
import { type Host, startHost } from '../../support/host.js'
import { logHostileErrors } from '../../support/hostile.js'

interface Parameter {
  name: string
  in: 'path' | 'query'
  required: boolean
  schema: Record<string, unknown>
}

interface Operation {
  operationId: string
  parameters: Parameter[]
  requestBody?: { content: Record<string, { schema: { required: string[] } }> }
  responses: Record<string, { headers?: object; content?: Record<string, { schema?: object }> }>
}

interface Document {
  servers: { url: string }[]
  paths: Record<string, { get?: Operation; post?: Operation }>
  components: { schemas: Record<string, object> }
}

const document: Document = JSON.parse(readFileSync('docs/openapi.json', 'utf8'))
const READS = Object.entries(document.paths).flatMap(([path, { get }]) => (get ? [[path, get] as const] : []))
const RESPONSES = READS.filter(([, { responses }]) => responses[200]?.content?.['application/json'])

describe('docs/openapi.json', () => {
  test('contains only resolvable references and unique operation ids', () => {
    const text = JSON.stringify(document)
    const refs = new Set([...text.matchAll(/"#\/components\/(\w+)\/(\w+)"/g)].map((match) => [match[1], match[2]]))
    const has = document.components as unknown as Record<string, Record<string, object>>
    expect([...refs].filter(([group, name]) => !has[group ?? '']?.[name ?? ''])).toEqual([])
    const ids = Object.values(document.paths).flatMap(({ get, post }) => [get?.operationId, post?.operationId])
    const known = ids.filter((id) => id !== undefined)
    expect(new Set(known).size).toBe(known.length)
  })

  test('describes every JSON response completely', () => {
    expect(RESPONSES.length).toBeGreaterThan(18)
    for (const [path, { responses }] of RESPONSES) {
      if (path === '/openapi') continue
      const schema = responses[200]?.content?.['application/json']?.schema as { properties?: object }
      expect([path, Object.keys(schema.properties ?? {}).length > 0]).toEqual([path, true])
    }
  })
})

describeEachDatabase('responses of a database with weeks of data', (database) => {
  let host: Host

  beforeAll(async () => {
    host = await usedHost(await database.fresh())
  }, 120_000)

  afterAll(() => host.close())

  test.each(RESPONSES.map(([path]) => path))('GET %s matches the document exactly', async (path) => {
    for (const address of await addressesOf(host, path)) await expectDescribed(host, path, address)
  })
})

describe('responses of other databases', () => {
  test.each(['nothing', 'text of an attacker'])(
    'responses match the document exactly for %s',
    async (contents) => {
      const host = await startHost('sqlite::memory:', EVERYTHING_ON)
      if (contents !== 'nothing') await logHostileErrors(host)
      for (const [path] of RESPONSES) {
        for (const address of await addressesOf(host, path)) await expectDescribed(host, path, address)
      }
      await host.close()
    },
    60_000,
  )
})

describe('the documented endpoints', () => {
  let host: Host
  let folder: string

  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'faultboard-openapi-'))
    host = await usedHost(`sqlite:${join(folder, 'test.sqlite3')}`)
  }, 120_000)

  afterAll(async () => {
    await host.close()
    rmSync(folder, { recursive: true, force: true })
  })

  test.each(READS.filter(([path]) => !/live|changes$|\/files?\//.test(path)))(
    'documented endpoints accept valid parameters of GET %s and return 422 for invalid values',
    async (path, { parameters }) => {
      const [plain = ''] = await addressesOf(host, path)
      for (const { name, in: where, schema } of parameters) {
        if (where === 'path') continue
        const right = await host.get(withParameter(plain, name, rightValue(schema)), { accept: 'application/json' })
        expect([name, right.status === 200 || right.status === 404]).toEqual([name, true])
        for (const wrong of wrongValues(schema)) {
          const refused = await host.get(withParameter(plain, name, wrong), { accept: 'application/json' })
          expect([name, wrong, refused.status]).toEqual([name, wrong, 422])
          expect(await refused.text()).toContain(name)
        }
      }
    },
  )

  test('documented endpoints use the documented defaults for omitted parameters', async () => {
    const withDefaults = RESPONSES.flatMap(([path, { parameters }]) =>
      parameters.flatMap(({ name, schema }) => ('default' in schema ? [{ path, name, value: schema.default }] : [])),
    )
    expect(withDefaults.length).toBeGreaterThan(8)
    for (const { path, name, value } of withDefaults) {
      const [plain = ''] = await addressesOf(host, path)
      const given = await host.json(withParameter(plain, name, String(value)))
      expect([path, name, given]).toEqual([path, name, await host.json(plain)])
    }
  })

  test('documented endpoints return the documented content types and headers', async () => {
    for (const [path, { responses }] of READS) {
      const { content = {}, headers = {} } = responses[200] ?? {}
      const [address] = /live|\{kind\}/.test(path) ? [] : await addressesOf(host, path)
      if (address === undefined) continue
      for (const kind of Object.keys(content)) {
        const response = await host.get(address, { accept: kind })
        expect([path, response.headers.get('content-type')]).toEqual([path, expect.stringContaining(kind)])
        if (kind === 'application/json') {
          expect([path, response.headers.has('link')]).toEqual([path, 'Link' in headers])
        }
        await response.body?.cancel()
      }
    }
  })

  test('failures return the documented statuses and body', async () => {
    const json = { accept: 'application/json' }
    const failures = [
      await fetch(`${host.origin}/error_dashboard/errors`, { headers: json }),
      await host.post('/errors/1/resolve', {}, { ...json, origin: 'https://evil.example' }),
      await host.get('/errors/999999', json),
      await host.post('/errors/1/add_comment', { body: 'x'.repeat(3_000_000) }, json),
      await host.get('/errors?severity=dire', json),
    ]
    expect(failures.map(({ status }) => status)).toEqual([401, 403, 404, 413, 422])
    for (const failure of failures) expect(await failure.json()).toEqual({ error: expect.any(String) })
    expect(failures[0]?.headers.has('www-authenticate')).toBe(true)
  })

  test('rejects an action without its required parameters', async () => {
    const needy = Object.entries(document.paths).flatMap(([path, { post }]) => {
      const required = Object.values(post?.requestBody?.content ?? {})[0]?.schema.required ?? []
      return required.length > 0 ? [{ path, required }] : []
    })
    expect(needy.length).toBeGreaterThan(5)
    for (const { path, required } of needy) {
      const response = await host.post(path.replace(/\{\w+\}/, '1'), {}, { accept: 'application/json' })
      expect([path, response.status]).toEqual([path, 422])
      const { error } = await response.json()
      for (const name of required) expect(error).toContain(name.replace('[]', ''))
    }
  })

  test('serves the document with authentication and the mount path', async () => {
    const served = await host.get('/openapi.json')
    expect(served.status).toBe(200)
    expect(await served.json()).toEqual({ ...document, servers: [{ url: '/error_dashboard' }] })
    const open = await fetch(`${host.origin}/error_dashboard/openapi.json`)
    expect(open.status).toBe(401)
  })
})

async function addressesOf(host: Host, path: string): Promise<string[]> {
  if (path.endsWith('/compare')) return (await dumps(host)).length > 1 ? [`${path}?a=1&b=2`] : []
  if (path.includes('{dump_id}')) return (await dumps(host)).length > 0 ? [path.replace('{dump_id}', '1')] : []
  if (path === '/errors/changes') return [`${path}?since=2020-01-01T00:00:00Z`]
  if (path === '/releases') return [path, `${path}?app_version=1.10.0`]
  if (!path.includes('{error_id}')) return [path]
  const errors = await host.tracker.Queries.ErrorsList.call({ per_page: 100 })
  return errors.map(({ id }) => path.replace('{error_id}', String(id)))
}

async function dumps(host: Host) {
  return (await host.tracker.Queries.DiagnosticDumps.call({})).dumps
}

async function expectDescribed(host: Host, path: string, address: string): Promise<void> {
  const response = await host.get(address, { accept: 'application/json' })
  expect([address, response.status]).toEqual([address, 200])
  const validate = validators.get(path)
  const isValid = validate?.(await response.json())
  if (!isValid) expect([address, validate?.errors?.slice(0, 3)]).toEqual([address, []])
}

const ajv = new Ajv2020({
  strict: false,
  formats: { 'date-time': /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z$/, date: /^\d{4}-\d\d-\d\d$/ },
  // Optimizing the generated code takes longer than running it.
  code: { optimize: false },
})
// Stricter than the document: rejects properties that it does not describe. Responses share the compiled components.
ajv.addSchema(
  closed({
    $id: 'openapi',
    components: document.components,
    $defs: Object.fromEntries(
      RESPONSES.map(([, { operationId, responses }]) => [
        operationId,
        responses[200]?.content?.['application/json']?.schema ?? {},
      ]),
    ),
  }) as object,
)

const validators = new Map(
  RESPONSES.map(([path, { operationId }]) => [path, ajv.getSchema(`openapi#/$defs/${operationId}`)] as const),
)

function closed(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(closed)
  if (typeof value !== 'object' || value === null) return value
  const copy = Object.fromEntries(Object.entries(value).map(([key, child]) => [key, closed(child)]))
  return 'properties' in copy && 'type' in copy && !('additionalProperties' in copy)
    ? { ...copy, additionalProperties: false }
    : copy
}

function withParameter(address: string, name: string, value: string): string {
  const [path = '', query = ''] = address.split('?')
  const parameters = new URLSearchParams(query)
  parameters.set(name, value)
  return `${path}?${parameters}`
}

function rightValue({ type, enum: words, default: value, minimum = 1, format }: Record<string, unknown>): string {
  if (Array.isArray(words)) return String(words[0])
  if (value !== undefined) return String(value)
  if (type === 'integer' || type === 'number') return String(minimum)
  if (type === 'boolean') return 'true'
  if (format === 'date') return '2026-03-30'
  return format === 'date-time' ? '2026-03-30T00:00:00Z' : 'x'
}

/** Values that the parameter must reject. Empty if any text is valid. */
function wrongValues({ type, enum: words, format, minimum, maximum }: Record<string, unknown>): string[] {
  return [
    ...((type !== 'string' && type !== 'array') || Array.isArray(words) || format !== undefined ? ['nonsense'] : []),
    ...(typeof minimum === 'number' ? [String(minimum - 1)] : []),
    ...(typeof maximum === 'number' ? [String(maximum + 1)] : []),
  ]
}
