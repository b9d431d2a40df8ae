import { execFileSync } from 'node:child_process'
import { once } from 'node:events'
import { connect } from 'node:net'
import { createConnection } from 'mysql2/promise'
import pg from 'pg'
import { chromium } from 'playwright-core'
import { expect, test } from 'vitest'
// @ts-expect-error: the scripts have no types.
import { CHROMIUM_ARGUMENTS } from '../../scripts/services/chromium.mjs'

testWith('FAULTBOARD_TEST_POSTGRES', 'PostgreSQL runs a query', async (url) => {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  const { rows } = await client.query('select 1 as one')
  await client.end()
  expect(rows).toEqual([{ one: 1 }])
})

testWith('FAULTBOARD_TEST_MYSQL', 'MariaDB runs a query', async (url) => {
  const connection = await createConnection(url)
  const [rows] = await connection.query('select 1 as one')
  await connection.end()
  expect(rows).toEqual([{ one: 1 }])
})

testWith('FAULTBOARD_TEST_REDIS', 'Redis responds to a ping', async (url) => {
  const { hostname, port, password } = new URL(url)
  const socket = connect(Number(port || 6379), hostname)
  socket.write(password ? `AUTH ${decodeURIComponent(password)}\r\nPING\r\n` : 'PING\r\n')
  let response = ''
  while (!/PONG|-ERR|-NOAUTH|-WRONGPASS/.test(response)) response += (await once(socket, 'data'))[0]
  socket.destroy()
  expect(response).toContain('+PONG')
})

testWith('FAULTBOARD_TEST_CHROMIUM', 'Chromium prints its version', (path) => {
  const version = execFileSync(path, ['--version'], { encoding: 'utf8', stdio: 'pipe' })
  expect(version).toMatch(/(Chromium|Chrome) \d+/)
})

testWith('FAULTBOARD_TEST_CHROMIUM', 'Chromium renders a page and nothing else', async (path) => {
  const browser = await chromium.launch({ executablePath: path, args: CHROMIUM_ARGUMENTS })
  const page = await browser.newPage()
  await page.setContent('<h1>Hello</h1><script>document.querySelector("h1").append(", browser")</script>')
  const heading = await page.locator('h1').textContent()
  const session = await browser.newBrowserCDPSession()
  const { targetInfos } = await session.send('Target.getTargets', { filter: [{}] })
  const kinds = new Set(targetInfos.map(({ type }) => type))
  await browser.close()
  expect(heading).toBe('Hello, browser')
  // Excludes renderers of the browser UI.
  expect([...kinds].sort()).toEqual(['page', 'tab'])
})

function testWith(variable: string, title: string, check: (value: string) => void | Promise<void>): void {
  const value = process.env[variable]
  if (value) test(title, () => check(value))
  else test.skip(`${title} (skipped: ${variable} is not set)`)
}
