import { execFile, execFileSync, spawnSync } from 'node:child_process'
import { createServer } from 'node:http'
import { promisify } from 'node:util'
import { describe, expect, onTestFinished, test } from 'vitest'
import { requestCurl } from '../../src/triage/queries/error-curl.js'
import { explainGrouping } from '../../src/triage/queries/error-grouping.js'
import { errorMarkdown } from '../../src/triage/queries/error-markdown.js'
import type { ErrorRecord } from '../../src/triage/queries/error-record.js'
import { stackFrames, stackParts } from '../../src/triage/queries/error-stack.js'
import { describeEachDatabase } from '../support/databases.js'
import { startListening } from '../support/host.js'
import { freshTracker } from '../support/tracker.js'

describe('stackFrames and stackParts', () => {
  const LINES = [
    'at total (src/cart.ts:12:7)',
    'at Layer.handle (node_modules/express/lib/layer.js:95:5)',
    'at next (/srv/app/node_modules/.pnpm/router@2/node_modules/@scope/router/route.js:1:2)',
    'at process.processTicksAndRejections (node:internal/process/task_queues:95:5)',
    'at fs.readFile (node:fs:1:1)',
    'at Array.map (<anonymous>)',
    'at async /srv/app/src/main.ts:3:4',
  ]

  test('parses lines into function, location and library', () => {
    const frames = stackFrames(LINES, '/srv/app')
    expect(frames[0]).toMatchObject({ function_name: 'total', file: 'src/cart.ts', line_number: 12, column: 7 })
    expect(frames.map(({ library }) => library)).toEqual([
      null,
      'express',
      '@scope/router',
      'node:internal',
      'node:fs',
      'native code',
      null,
    ])
    expect(frames[6]).toMatchObject({ function_name: null, file: 'src/main.ts', in_app: true })
  })

  test('groups consecutive library frames', () => {
    const parts = stackParts(stackFrames(LINES, '/srv/app'))
    expect(parts.map(({ kind }) => kind)).toEqual(['own', 'library', 'own'])
    expect(parts[1]).toMatchObject({
      libraries: ['express', '@scope/router', 'node:internal', 'node:fs', 'native code'],
    })
  })
})

describeEachDatabase('explainGrouping', (database) => {
  test('explains the grouping by the parts of the signature', async () => {
    const { tracker } = await freshTracker(database, { project_root: '/srv/app' })
    const logged = await tracker.Commands.LogError.call({
      error_type: 'CartError',
      message: 'Order 17 of eve@example.org is empty',
      backtrace: ['at next (node_modules/express/x.js:1:1)', 'at total (/srv/app/src/cart.ts:12:7)'],
    })
    const record = await tracker.Queries.FindError.call({ error_id: logged?.id ?? 0 })
    expect(explainGrouping(record, '/srv/app')).toEqual({
      grouped_by: 'parts',
      error_type: 'CartError',
      message: 'Order <number> of <email> is empty',
      root_cause: null,
      place: ['src/cart.ts#total'],
    })
  })
})

test('explains the grouping by the location of the root cause', async () => {
  const { tracker } = await freshTracker({ dialect: 'sqlite', fresh: async () => 'sqlite::memory:' })
  const logged = await tracker.report(new Error('outer', { cause: new TypeError('inner') }))
  const record = await tracker.Queries.FindError.call({ error_id: logged?.id ?? 0 })
  expect(explainGrouping(record, tracker.config.project_root ?? '')).toMatchObject({
    grouped_by: 'parts',
    message: 'outer',
  })
})

test('distinguishes custom fingerprints and message floods in the grouping', async () => {
  const { tracker } = await freshTracker(
    { dialect: 'sqlite', fresh: async () => 'sqlite::memory:' },
    {
      max_groups_per_place: 2,
      custom_fingerprint: (error) => (String(error).includes('own') ? 'mine' : ''),
    },
  )
  const groupingOfMessage = async (message: string) => {
    const logged = await tracker.Commands.LogError.call({
      exception: Object.assign(new Error(message), { stack: `Error: ${message}\n    at f (src/x.ts:1:1)` }),
    })
    return explainGrouping(
      await tracker.Queries.FindError.call({ error_id: logged?.id ?? 0 }),
      tracker.config.project_root ?? '',
    ).grouped_by
  }
  expect(await groupingOfMessage('own')).toBe('other')
  const words = ['alpha', 'beta', 'gamma', 'delta', 'epsilon']
  const kinds: string[] = []
  for (const word of words) kinds.push(await groupingOfMessage(word))
  expect(kinds[0]).toBe('parts')
  expect(kinds.at(-1)).toBe('many_messages')
})

describe('requestCurl', () => {
  const curlFor = (fields: Partial<Parameters<typeof requestCurl>[0]>) =>
    requestCurl({ request_url: 'https://shop.example/pay?id=7', request: null, user_agent: null, ...fields })

  test('includes method, URL and safe headers', () => {
    expect(
      curlFor({
        request: { method: 'post', headers: { accept: 'text/html', host: 'shop.example', 'content-length': '12' } },
        user_agent: 'Mozilla',
      }),
    ).toBe(
      "curl -g -X POST 'https://shop.example/pay?id=7' \\\n  -H 'accept: text/html' \\\n  -H 'user-agent: Mozilla'",
    )
  })

  test('omits credentials and filtered values', () => {
    const command = curlFor({
      request_url: 'https://eve:pass@shop.example/pay?id=7&token=[FILTERED]&code=%5BFILTERED%5D#secret',
      request: {
        method: 'GET',
        headers: { cookie: 'sid=1', authorization: 'Basic x', referer: 'https://a.example/?t=[FILTERED]' },
      },
    })
    expect(command).toBe("curl -g 'https://shop.example/pay?id=7'")
  })

  test.each([
    ["https://shop.example/?q='; rm -rf /; '", "it's"],
    ['https://shop.example/$(touch x)`id`', '$(id)`id` "a" \\'],
    ['https://shop.example/\n-o /etc/passwd', 'a\nb\u0000c'],
  ])('quotes the arguments of the command safely for a shell: %j', (request_url, user_agent) => {
    const command = curlFor({ request_url, user_agent, request: { method: 'GET; id' } }) ?? ''
    const [globFlag, address, flag, header, ...more] = execFileSync(
      'sh',
      ['-c', `curl() { for a in "$@"; do printf '%s\\036' "$a"; done; }\n${command}`],
      { encoding: 'utf8' },
    ).split('\u001e')
    expect(globFlag).toBe('-g')
    expect(address).toBe(new URL(request_url).href)
    expect(flag).toBe('-H')
    expect(header).toBe(`user-agent: ${user_agent.replace(/\p{Cc}/gu, ' ')}`)
    expect(more).toEqual([''])
  })

  test.skipIf(!hasCurl())('returns a command that sends the original method, URL and headers', async () => {
    const receivedRequests: unknown[] = []
    const server = createServer(({ method, url, headers }, response) => {
      receivedRequests.push([method, url, headers.accept])
      response.end('done')
    })
    const origin = await startListening(server)
    onTestFinished(() => void server.close())
    const url = '/pay?ids[0]=7&ids[1-3]=8&q={a,b}'
    for (const method of ['GET', 'HEAD', 'POST', 'DELETE']) {
      const command = curlFor({ request_url: `${origin}${url}`, request: { method, headers: { accept: 'a/b' } } }) ?? ''
      await promisify(execFile)('sh', ['-c', command], { timeout: 20_000 })
    }
    expect(receivedRequests).toEqual(['GET', 'HEAD', 'POST', 'DELETE'].map((method) => [method, url, 'a/b']))
  })

  test.each([null, '/pay', 'javascript:alert(1)', 'file:///etc/passwd', 'https://'])(
    'returns null without an absolute URL: %j',
    (request_url) => expect(curlFor({ request_url })).toBeNull(),
  )
})

describe('Markdown export', () => {
  const RECORD = {
    error_type: 'CartError',
    message: 'Empty',
    place: 'src/cart.ts:12 in total',
    severity: 'high',
    status: 'new',
    occurrence_count: 12,
    user_count: 3,
    first_seen_at: '2026-03-01T00:00:00.000Z',
    first_app_version: '1.0.0',
    occurred_at: '2026-03-10T00:00:00.000Z',
    app_version: '1.2.0',
    last_app_version: '1.2.0',
    application_name: 'shop',
    platform: 'API',
    git_sha: null,
    request_url: 'https://shop.example/pay',
    request: { method: 'POST' },
    occurrence: null,
    backtrace: ['at total (src/cart.ts:12:7)'],
    causes: [
      {
        error_type: 'TypeError',
        message: 'inner',
        relation: 'cause',
        code: 'E1',
        backtrace: ['at deep (src/deep.ts:1:1)'],
        causes: [{ error_type: 'RangeError', message: 'innermost', relation: 'aggregated', backtrace: [] }],
      },
    ],
  } as unknown as ErrorRecord

  const AT = { url: 'https://host', root: '/app' }

  test('includes type, location, counts, times, stack and causes', () => {
    const text = errorMarkdown(RECORD, { url: 'https://host/error_dashboard/errors/7', root: '/app' })
    expect(text).toContain('## `CartError` in `src/cart.ts:12 in total`\n\n```text\nEmpty\n```')
    expect(text).toContain('- Occurrences: 12 (3 users)')
    expect(text).toContain('- First seen: 2026-03-01T00:00:00.000Z in `1.0.0`')
    expect(text).toContain('- Request: `POST https://shop.example/pay`')
    expect(text).toContain('```text\nat total (src/cart.ts:12:7)\n```')
    expect(text).toContain('### Caused by\n\n```text\nTypeError (E1): inner\nat deep (src/deep.ts:1:1)\n```')
    expect(text).toContain('### Aggregated\n\n```text\nRangeError: innermost\n```')
    expect(text.endsWith('\n\nhttps://host/error_dashboard/errors/7')).toBe(true)
  })

  test('uses the location of the root cause if the stack starts elsewhere', () => {
    const head = (record: ErrorRecord) => errorMarkdown(record, AT).split('\n')[0]
    const deep = { ...RECORD, place: 'src/deep.ts:1 in deep' }
    expect(head(deep)).toBe('## `CartError` caused at `src/deep.ts:1 in deep`')
    expect(head({ ...deep, causes: [] })).toBe('## `CartError` in `src/deep.ts:1 in deep`')
  })

  test('uses the singular for one user', () => {
    const text = errorMarkdown({ ...RECORD, occurrence_count: 1, user_count: 1 }, AT)
    expect(text).toContain('- Occurrences: 1 (1 user)')
  })

  test('keeps hostile text inside code blocks', () => {
    const hostileText = '```\n\n[click](javascript:alert(1)) ![x](https://evil.example/x.png) @everyone\n````\n'
    const text = errorMarkdown({ ...RECORD, message: hostileText, error_type: 'a``b`\n\n# Head', causes: [] }, AT)
    const fence = /^(`{3,})text\n/m.exec(text)?.[1] ?? ''
    expect(hostileText).not.toContain(fence)
    expect(text).toContain(`${fence}text\n${hostileText}\n${fence}`)
    expect(text.split('\n')[0]).toBe('## ```a``b` # Head``` in `src/cart.ts:12 in total`')
  })
})

function hasCurl(): boolean {
  return spawnSync('curl', ['--version']).status === 0
}
