import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import type { Settings } from '../../../../src/options.js'
import { reportingEndpoint } from '../../../../src/reporting/endpoint.js'
import { sentryIntake } from '../../../../src/reporting/sentry/intake.js'
import { type Host, startHost } from '../../../support/host.js'
import { eventually, temporaryFolder } from '../../../support/tracker.js'

const KEY = '8c1f0a6d2b3e4f50a1b2c3d4e5f60718'
const SECRET = 'hunter2-and-more'

/** A host whose files have the same names as those in the frames of its clients. */
async function hostWithFiles(settings: Settings = {}): Promise<Host> {
  const project_root = temporaryFolder()
  for (const name of ['host.js', 'server.js'])
    writeFileSync(join(project_root, name), 'const of_the_host = 1\n'.repeat(9))
  const host = await startHost(`sqlite:${join(temporaryFolder(), 'errors.sqlite3')}`, { project_root, ...settings })
  onTestFinished(() => host.close())
  return host
}

function post(path: string, body: unknown, headers: Record<string, string> = {}): Request {
  const all = { 'content-type': 'application/json', ...headers }
  return new Request(`http://ops.example${path}`, { method: 'POST', headers: all, body: JSON.stringify(body) })
}

async function onlyPage({ tracker, get }: Host, { with: part = /^/ } = {}): Promise<{ id: number; text: string }> {
  await tracker.flush()
  const [error] = await tracker.Queries.ErrorsList.call()
  const id = error?.id ?? 0
  let text = ''
  // The first visit loads the syntax highlighter, and pages do not wait for it.
  await eventually(async () => {
    text = await (await get(`/errors/${id}`)).text()
    return part.test(text)
  }, `the page has ${part}`)
  return { id, text }
}

const FRAME = { filename: 'host.js', function: 'pay', lineno: 4, colno: 3, in_app: true }

const eventWith = (frames: object[], inner: object[] = []) => ({
  exception: {
    values: [
      { type: 'Error', value: 'behind', stacktrace: { frames: inner } },
      { type: 'TypeError', value: 'x is undefined', stacktrace: { frames } },
    ],
  },
})

async function send(host: Host, event: object): Promise<void> {
  const intake = sentryIntake({ keys: [KEY], tracker: host.tracker })
  const response = await intake.handle(post(`/sentry/api/1/store/?sentry_key=${KEY}`, event), { remote_address: '::1' })
  expect(response.status).toBe(200)
}

test('shows the source lines that a Sentry SDK sent, with secrets removed', async () => {
  const host = await hostWithFiles()
  const own = {
    ...FRAME,
    pre_context: ['// sent', `const password = '${SECRET}'`],
    context_line: '  cart.total(<b>)',
    post_context: ['}'],
  }
  const cause = { ...FRAME, filename: '/srv/other/stock.py', lineno: 1, pre_context: ['?'], context_line: 'raise Gone' }
  const library = { ...own, filename: 'express.js', in_app: false, context_line: 'of a library' }
  await send(host, eventWith([library, own], [cause]))
  const own_line = /<mark class="line" data-line="4">\s*cart\.<span class="code-function">total<\/span>\(&lt;/
  const { id, text } = await onlyPage(host, { with: own_line })
  expect(text).toMatch(/data-line="2"><span class="code-comment">\/\/ sent/)
  expect(text).toMatch(/<mark class="line" data-line="1">raise Gone/)
  expect(text).not.toMatch(/of_the_host|of a library|Show more lines|data-line="0"/)
  const { error } = (await host.json(`/errors/${id}.json`)) as unknown as { error: { details: object } }
  expect(error.details).toMatchObject({
    frame_sources: [
      {
        frame: 'at pay (host.js:4:3)',
        first: 2,
        lines: ['// sent', 'const password = [FILTERED]', '  cart.total(<b>)', '}'],
      },
      { frame: 'at pay (/srv/other/stock.py:1:3)', first: 1, lines: ['raise Gone'] },
    ],
  })
  expect(text + JSON.stringify(error)).not.toContain(SECRET)
})

test('limits and validates the source lines of an SDK', async () => {
  const host = await hostWithFiles()
  const long = 'x '.repeat(300)
  const frames = Array.from({ length: 40 }, (_, i) => ({
    ...{ ...FRAME, lineno: i + 30, context_line: long },
    ...{ pre_context: Array(30).fill(long), post_context: [7, null, 'two\nlines'] },
  }))
  await send(host, eventWith([...frames, { ...FRAME, context_line: 7 }, { ...FRAME, lineno: 'x', context_line: 'y' }]))
  const { id, text } = await onlyPage(host)
  const { error } = (await host.json(`/errors/${id}.json`)) as unknown as {
    error: { details: { frame_sources: { first: number; lines: string[] }[] } }
  }
  const { frame_sources } = error.details
  expect(frame_sources[0]).toMatchObject({ first: 59, lines: { length: 14 } })
  expect(frame_sources[0]?.lines.at(-1)).toBe('two lines')
  expect(JSON.stringify(frame_sources).length).toBeLessThan(35_000)
  expect(text).not.toContain('of_the_host')
})

const REPORTED = {
  error_type: 'E',
  message: 'm',
  platform: 'web',
  app_version: '1',
  stack: 'E: m\n    at f (server.js:5:3)',
}

async function reported(host: Host, options = {}): Promise<string> {
  const request = post('/client_errors', { error: REPORTED })
  expect((await reportingEndpoint({ tracker: host.tracker }).handle(request)).status).toBe(201)
  return (await onlyPage(host, options)).text
}

test('shows the source lines from the source map of a client error', async () => {
  const host = await hostWithFiles()
  const sourcesContent = [`// here\r\ncart.total(map)\nconst password = '${SECRET}'`]
  const map = { version: 3, sources: ['server.js'], sourcesContent, names: [], mappings: ';;;;AACA' }
  const upload = { release: '1', file_name: 'server.js', map: JSON.stringify(map) }
  await host.tracker.Commands.StoreSourceMap.call(upload)
  const own_line = /<mark class="line" data-line="2">cart\.<span class="code-function">total<\/span>\(map/
  const text = await reported(host, { with: own_line })
  expect(text).toMatch(/data-line="1"><span class="code-comment">\/\/ here/)
  expect(text).not.toMatch(/of_the_host|hunter2/)
})

test('does not show a server file with the same name for a client frame', async () => {
  const text = await reported(await hostWithFiles())
  expect(text).toContain('server.js')
  expect(text).not.toContain('of_the_host')
})

test('shows a user agent once when the device context repeats it', async () => {
  const host = await hostWithFiles()
  const agent = 'Mozilla/5.0 (X11) Browser/7'
  const device_info = { platform: 'Linux', version: agent }
  const error = { error_type: 'E', message: 'm', platform: 'web', app_version: '1', device_info }
  const request = post('/client_errors', { error }, { 'user-agent': agent })
  await reportingEndpoint({ tracker: host.tracker }).handle(request)
  const { text } = await onlyPage(host)
  expect(text).toMatch(/device\.platform<\/dt><dd[^>]*>Linux/)
  expect(text.split(` dir="auto">${agent}`)).toHaveLength(2)
  expect(text).not.toContain('device.version')
})

test('does not explain missing variables for errors of other processes', async () => {
  const host = await hostWithFiles({ enable_local_variables: true })
  const text = await reported(host)
  expect(text).toContain('server.js')
  expect(text).not.toContain('No variables captured for this occurrence')
})
