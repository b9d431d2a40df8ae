import { type GenericSchema, is } from 'valibot'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { Endpoint } from '../../src/dashboard/define.js'
import { READ_TOOLS } from '../../src/mcp/tools/read.js'
import { TRIAGE_TOOLS } from '../../src/mcp/tools/triage.js'
import { TrackerError } from '../../src/model/errors.js'
import { parseInput } from '../../src/model/input/input.js'
import { selectedDialects } from '../support/databases/database-servers.js'
import { describeEachDatabase } from '../support/databases.js'
import { type Host, signIn, startHost } from '../support/host.js'
import { ALL_PAGES_ON } from '../support/hostile.js'
import { ACTIONS, FEEDS, PAGES } from '../support/routes.js'

/** One of each technique: quotes, comments, stacked statements, unions, delays, wildcards, encodings, operators. */
const PAYLOADS = [
  `'`,
  `"`,
  '`',
  `\\`,
  `\\'`,
  `''`,
  `' OR '1'='1`,
  `' OR 1=1 -- `,
  `" OR ""="`,
  `' OR 1=1 #`,
  `') OR ('1'='1`,
  `1 OR 1=1`,
  `1; DROP TABLE faultboard_errors`,
  `'; DELETE FROM faultboard_errors; -- `,
  `' UNION SELECT name FROM sqlite_master -- `,
  `' UNION SELECT usename::text FROM pg_user -- `,
  `' AND (SELECT pg_sleep(5)) IS NULL -- `,
  `' AND SLEEP(5) -- `,
  `' AND extractvalue(1, concat(0x7e, version())) -- `,
  `'||(SELECT version())||'`,
  `$$; SELECT 1; $$`,
  `$1`,
  `?`,
  `:name`,
  `@@version`,
  `0x27204f5220313d31`,
  `%`,
  `_`,
  `%%%%`,
  `\\%`,
  `%' ESCAPE '!`,
  `occurred_at; DROP TABLE faultboard_errors`,
  `(CASE WHEN 1=1 THEN 1 ELSE 2 END)`,
  `*`,
  `" NEAR/0 "`,
  `error_type:* OR message:*`,
  `ʼ OR 1=1`,
  `\ufeff' OR 1=1`,
  `\u0000' OR 1=1 -- `,
  `\ud800'`,
  `/*!50000 OR 1=1 */`,
  `1e309`,
  `-1`,
  `9223372036854775808`,
  `NaN`,
  `null`,
  `true`,
  `[]`,
  `{"$ne": null}`,
]
/** Subset for parameters that another endpoint tests with all payloads. */
const FEW_PAYLOADS = PAYLOADS.filter((_, i) => i % 7 === 0)
/** Filters of the list that compare text. With a payload, they must match no error. */
const TEXT_FILTERS = ['platform', 'error_type', 'assigned_to', 'search', 'user_id', 'app_version', 'git_sha']
/** Characters that databases cannot store in text. */
const UNSTORABLE = /[\p{Cc}\p{Cs}\ufeff]/u
const ALLOWED = [200, 302, 404, 409, 422]

describeEachDatabase('SQL injection', (database) => {
  let host: Host
  /** Rejected input reaches no SQL, so one database is enough for it. */
  const sendsRejectedInput = database.dialect === selectedDialects()[0]

  beforeAll(async () => {
    host = await startHost(await database.fresh(), { ...ALL_PAGES_ON, application_name: 'shop' })
    for (const error_type of ['First', 'Second']) {
      await host.tracker.Commands.LogError.call({
        error_type,
        message: 'plain words',
        backtrace: ['at pay (/srv/pay.js:1:1)'],
        user_id: 'u1',
        platform: 'iOS',
        app_version: '1.0.0',
        git_sha: 'abc1234',
      })
    }
  })

  afterAll(() => host.close())

  /** Bypasses the network, because the test sends thousands of requests. */
  async function send(path: string, form?: Record<string, string>): Promise<Response> {
    const url = `http://shop.example/error_dashboard${path}`
    const [below = ''] = path.split('?')
    const request = form
      ? new Request(url, { method: 'POST', headers: signIn(), body: new URLSearchParams(form) })
      : new Request(url, { headers: { ...signIn(), accept: 'application/json' } })
    return host.tracker.handle(request, { base: '/error_dashboard', path: below, remote_address: '192.0.2.1' })
  }

  const expectUntouched = async () => {
    const { pagination } = await host.tracker.Queries.ErrorsList.page()
    expect(pagination.total_count).toBe(2)
    expect(host.lines.filter((line) => line.includes('request failed'))).toEqual([])
  }

  test('SQL in any parameter of any page or feed causes no server error and matches nothing', {
    timeout: 240_000,
  }, async () => {
    const failures: string[] = []
    const testedFilters = new Set<string>()
    for (const { endpoint, name, payloads } of parametersOf([...PAGES, ...FEEDS])) {
      const path = endpoint.path.replace(/:\w+(?:\{[^}]+\})?/g, '1')
      const isTextFilter = path === '/errors' && TEXT_FILTERS.includes(name)
      if (isTextFilter && payloads === PAYLOADS) testedFilters.add(name)
      for (const payload of payloads) {
        if (!sendsRejectedInput && isRejected(endpoint, name, payload)) continue
        const response = await send(`${path}?${new URLSearchParams({ [name]: payload })}`)
        const request = `${response.status} ${path} ${name}=${JSON.stringify(payload)}`
        if (!ALLOWED.includes(response.status)) failures.push(request)
        if (!isTextFilter || response.status !== 200) continue
        const { pagination } = (await response.json()) as { pagination: { total_count: number } }
        if (pagination.total_count > 0) failures.push(`${request} matched`)
      }
    }
    expect(failures).toEqual([])
    expect([...testedFilters].sort()).toEqual([...TEXT_FILTERS].sort())
    await expectUntouched()
  })

  test('SQL in a search finds exactly the error whose message contains it', { timeout: 120_000 }, async () => {
    const own = await startHost(await database.fresh())
    try {
      const searched = PAYLOADS.filter((payload) => payload.trim().length > 2 && !UNSTORABLE.test(payload))
      for (const [i, payload] of searched.entries()) {
        const message = `marker${i}: ${payload}`
        await own.tracker.Commands.LogError.call({ error_type: `Kind${i}`, message, backtrace: [] })
      }
      for (const [i, payload] of searched.entries()) {
        const found = await own.tracker.Queries.ErrorsList.call({ search: `marker${i}: ${payload}`, per_page: 100 })
        expect([payload, found.map(({ error_type }) => error_type)]).toEqual([payload, [`Kind${i}`]])
      }
      expect(await own.tracker.Queries.ErrorsList.call({ search: 'marker_:' })).toEqual([])
      expect(await own.tracker.Queries.ErrorsList.call({ search: 'mark%r1' })).toEqual([])
    } finally {
      await own.close()
    }
  })

  test('SQL in any field of any form never causes a server error', { timeout: 240_000 }, async () => {
    const failures: string[] = []
    for (const { endpoint, name, payloads } of parametersOf(ACTIONS)) {
      // Uses an unknown error, because an action would change the data of the other tests.
      const path = endpoint.path.replace(/:\w+(?:\{[^}]+\})?/g, '999')
      for (const payload of payloads) {
        if (!sendsRejectedInput && isRejected(endpoint, name, payload)) continue
        const { status } = await send(path, { action_type: 'resolve', [name]: payload, [`${name}[]`]: payload })
        if (!ALLOWED.includes(status)) failures.push(`${status} ${path} ${name}=${JSON.stringify(payload)}`)
      }
    }
    expect(failures).toEqual([])
    await expectUntouched()
  })

  test('SQL in any path or id leads to an unknown page or record', { timeout: 120_000 }, async () => {
    const paths = ['/errors/', '/errors/diagnostic_dumps/', '/saved_views/', '/assets/', '/']
    const failures: string[] = []
    for (const path of paths) {
      for (const payload of PAYLOADS) {
        const { status } = await send(`${path}${encodeURIComponent(payload.toWellFormed())}`)
        if (status !== 404) failures.push(`${status} ${path}${payload}`)
      }
    }
    expect(failures).toEqual([])
  })

  test('SQL in the input of an agent is rejected or matches nothing', { timeout: 240_000 }, async () => {
    const problems: string[] = []
    for (const tool of [...READ_TOOLS, ...TRIAGE_TOOLS]) {
      for (const name of Object.keys(entriesOf(tool.input))) {
        for (const payload of PAYLOADS) {
          const given = { ...(tool.role !== 'viewer' ? { error_id: 999 } : { error_id: 1 }), [name]: payload }
          const { input } = tool
          try {
            const parsed = parseInput(input, pick(given, entriesOf(input)))
            const result = (await tool.run(host.tracker, parsed as never)) as { pagination?: { total_count: number } }
            const isMatch = TEXT_FILTERS.includes(name) && (result.pagination?.total_count ?? 0) > 0
            if (isMatch) problems.push(`${tool.name} ${name}=${JSON.stringify(payload)} matched`)
          } catch (error) {
            if (!(error instanceof TrackerError)) problems.push(`${tool.name} ${name}: ${String(error)}`)
          }
        }
      }
    }
    expect(problems).toEqual([])
    await expectUntouched()
  })

  test('SQL in a recorded error is stored and shown unchanged', { timeout: 120_000 }, async () => {
    const own = await startHost(await database.fresh())
    try {
      for (const [i, payload] of PAYLOADS.entries()) {
        const logged = await own.tracker.Commands.LogError.call({
          error_type: `T${i}${payload}`,
          message: payload,
          platform: payload,
          user_id: payload,
          app_version: payload,
          git_sha: payload,
          tags: { [payload]: payload },
          context: { [payload]: payload },
        })
        const error = await own.tracker.Queries.FindError.call({ error_id: logged?.id ?? 0 })
        const stored = payload.replaceAll('\u0000', '').replaceAll('\ud800', '').trim()
        expect(error.message.replaceAll('\ufffd', '').trim()).toBe(stored)
      }
    } finally {
      await own.close()
    }
  })
})

function* parametersOf(endpoints: readonly Endpoint[]) {
  const seen = new Set<string>()
  for (const endpoint of endpoints) {
    for (const name of Object.keys(entriesOf(endpoint.parameters))) {
      yield { endpoint, name, payloads: seen.has(name) ? FEW_PAYLOADS : PAYLOADS }
      seen.add(name)
    }
  }
}

/** Returns true if the schema of the parameter rejects this value, alone and in a list. */
function isRejected({ parameters }: Endpoint, name: string, payload: string): boolean {
  const schema = (entriesOf(parameters) as Record<string, GenericSchema>)[name]
  try {
    return schema !== undefined && !is(schema, payload) && !is(schema, [payload])
  } catch {
    // The schema of the search parses a query and throws an error of its own.
    return false
  }
}

function entriesOf(schema: unknown): object {
  const { entries, pipe } = schema as { entries?: object; pipe?: [{ entries?: object }] }
  return entries ?? pipe?.[0]?.entries ?? {}
}

function pick(given: Record<string, unknown>, entries: object): object {
  return Object.fromEntries(Object.entries(given).filter(([name]) => Object.hasOwn(entries, name)))
}
