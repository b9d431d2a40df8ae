import { DatabaseSync } from '@photostructure/sqlite'
import { expect, onTestFinished, test } from 'vitest'
import { migrate } from '../../src/store/migrate.js'
import { serveTracker, signIn } from '../support/host.js'
import { temporaryFolder, withDatabase } from '../support/tracker.js'

const PAGES = ['/errors/analytics', '/errors/correlation']

test.each(PAGES)('sends the layout of %s before slow content', async (path) => {
  const { visit, database } = await hostWithSlowDatabase()
  const expected = await (await visit(path)).text()
  database.delayedStatements = 5
  const response = await visit(path)
  const chunks = await readChunks(response)
  expect(response.status).toBe(200)
  expect(chunks).toHaveLength(2)
  expect(chunks[0]).toMatch(
    /<title>(Analytics|Correlation) · shop<\/title>.*<main id="content" tabindex="-1"><div class="section-tabs">.*<\/div>$/s,
  )
  expect(withoutTimes(chunks.join(''))).toBe(withoutTimes(expected))
})

test.each(PAGES)('shows a failure after the layout of %s in the page, and logs it', async (path) => {
  const { visit, database, lines } = await hostWithSlowDatabase()
  Object.assign(database, { delayedStatements: 5, failsAfter: 5 })
  const [head, content] = await readChunks(await visit(path))
  expect(head).toContain('<main')
  expect(content).toMatch(/^<section class="wrong"><h1>Something went wrong<\/h1>.*<\/html>$/s)
  expect(lines.join('\n')).toContain(`Dashboard request failed: ${path}: Error: the disk is on fire`)
})

test('compresses a streamed page, and sends its layout before the content', async () => {
  const { host, database } = await hostWithSlowDatabase()
  const whole = await host.get('/errors/analytics')
  const expected = await whole.text()
  database.delayedStatements = 5
  const response = await host.get('/errors/analytics')
  expect(response.headers.get('content-encoding')).toBe('gzip')
  const chunks = await readChunks(response)
  expect(chunks.length).toBeGreaterThan(1)
  expect(chunks[0]).toContain('<main id="content"')
  expect(chunks[0]).not.toContain('</html>')
  expect(withoutTimes(chunks.join(''))).toBe(withoutTimes(expected))
})

test('sends the headers and cookies of other pages with a streamed page', async () => {
  const { host, database } = await hostWithSlowDatabase()
  const whole = await host.get('/settings')
  database.delayedStatements = 5
  const streamed = await host.get('/errors/analytics')
  expect(await streamed.text()).toMatch(/<\/html>$/)
  expect(streamed.headers.get('x-accel-buffering')).toBe('no')
  for (const name of ['content-type', 'content-security-policy', 'cache-control', 'x-content-type-options'])
    expect(streamed.headers.get(name)).toBe(whole.headers.get(name))
  const cookieNames = ({ headers }: Response) => headers.getSetCookie().map((cookie) => cookie.split('=')[0])
  expect(cookieNames(streamed)).toEqual(cookieNames(whole))
})

test.each([
  ['an unknown application', '/errors/analytics?application_id=999', {}, 404],
  ['JSON', '/errors/analytics', { accept: 'application/json' }, 500],
])('decides the status of a slow page before the response for %s', async (_name, path, headers, status) => {
  const { visit, database } = await hostWithSlowDatabase()
  Object.assign(database, { delayedStatements: 5, failsAfter: 5 })
  expect((await visit(path, headers)).status).toBe(status)
})

test('responds to HEAD for a slow page with the status and headers of GET, without a body', async () => {
  const { host, database } = await hostWithSlowDatabase()
  database.delayedStatements = 5
  const url = `${host.origin}/error_dashboard/errors/analytics`
  const head = await fetch(url, { method: 'HEAD', headers: signIn() })
  expect(head.status).toBe(200)
  expect(head.headers.get('content-type')).toBe('text/html; charset=utf-8')
  expect(await head.text()).toBe('')
})

test('stays usable after a client has left during a slow page', async () => {
  const { host, database } = await hostWithSlowDatabase()
  database.delayedStatements = 5
  const controller = new AbortController()
  const url = `${host.origin}/error_dashboard/errors/analytics`
  const response = await fetch(url, { headers: signIn(), signal: controller.signal })
  controller.abort()
  await expect(response.text()).rejects.toThrow()
  expect(await (await host.get('/errors/analytics')).text()).toMatch(/<\/html>$/)
  expect(host.lines).toEqual([])
})

const DELAY_MS = 20

/** A host whose database delays the next `delayedStatements` and fails after `failsAfter` statements. */
async function hostWithSlowDatabase() {
  // A file would be read through connections of the tracker itself.
  const handle = new DatabaseSync(':memory:')
  onTestFinished(() => handle.close())
  const database = { delayedStatements: 0, failsAfter: Number.POSITIVE_INFINITY }
  // The driver methods are not writable.
  const replace = (target: object, name: string, value: unknown) => Object.defineProperty(target, name, { value })
  const prepare = handle.prepare.bind(handle)
  replace(handle, 'prepare', (sql: string) => {
    const statement = prepare(sql)
    const all = statement.all.bind(statement)
    replace(statement, 'all', (...values: Parameters<typeof all>) => {
      if (database.delayedStatements-- > 0) block(DELAY_MS)
      if (database.failsAfter-- <= 0) throw new Error('the disk is on fire')
      return all(...values)
    })
    return statement
  })
  await withDatabase(handle, migrate)
  const host = await serveTracker({ database: handle, spool_path: temporaryFolder() })
  onTestFinished(() => host.close())
  await host.tracker.Commands.LogError.call({ error_type: 'E', message: 'm', app_version: '1.0.0', user_id: 'ann' })
  await host.tracker.flush()
  const visit = (path: string, headers: Record<string, string> = {}) => {
    const url = new URL(`http://ops.example/error_dashboard${path}`)
    const request = new Request(url, { headers: { ...signIn(), ...headers } })
    const mount = { base: '/error_dashboard', path: url.pathname.slice('/error_dashboard'.length) }
    return host.tracker.handle(request, { ...mount, remote_address: '10.0.0.1' })
  }
  return { host, visit, database, lines: host.lines }
}

/** Blocks the thread, like a query on SQLite. */
function block(ms: number): void {
  const until = performance.now() + ms
  while (performance.now() < until);
}

async function readChunks({ body }: Response): Promise<string[]> {
  const chunks: string[] = []
  for await (const chunk of body ?? []) chunks.push(Buffer.from(chunk).toString())
  return chunks
}

function withoutTimes(html: string): string {
  return html.replace(/<time\b.*?<\/time>/gs, '').replace(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, '')
}
