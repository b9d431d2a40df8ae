import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { describeOneDatabase } from '../../support/databases.js'
import {
  basicAuth,
  CREDENTIALS,
  faultboard,
  faultboardProcess,
  RunningCommand,
  workingDirectory,
} from '../faultboard.js'

const ADA = basicAuth('ada', 'correct horse')
const DASHBOARD = /Dashboard +(http:\/\/127\.0\.0\.1:\d+)\/error_dashboard\n/

async function eventually<T>(read: () => Promise<T>, isDone: (value: T) => boolean): Promise<T> {
  for (let attempts = 0; ; attempts++) {
    const value = await read()
    if (isDone(value) || attempts > 100) return value
    await new Promise((resume) => setTimeout(resume, 50))
  }
}

describeOneDatabase('serve', (database) => {
  test('shows an error of the sample application in the dashboard and shuts down cleanly', async () => {
    const [cwd, url] = [await workingDirectory(), await database.empty()]
    const serve = new RunningCommand(['serve', '--port', '0', '--migrate', '--database', url], {
      cwd,
      env: CREDENTIALS,
    })
    const [, address] = await serve.waitForOutput(DASHBOARD)

    const home = await (await fetch(`${address}/`)).text()
    const links = [...home.matchAll(/<a href="([^"]+)"><code>/g)].map(([, link = '']) => link.replaceAll('&amp;', '&'))
    expect(links.length).toBeGreaterThanOrEqual(5)
    expect(home).toContain('href="/error_dashboard"')
    for (const link of links) expect((await fetch(`${address}${link}`)).status).toBe(500)
    expect((await fetch(`${address}/nowhere`)).status).toBe(404)

    expect((await fetch(`${address}/error_dashboard/errors.json`)).status).toBe(401)
    const list = () => fetch(`${address}/error_dashboard/errors.json`, ADA).then((value) => value.json())
    const { errors } = (await eventually(list, ({ errors }) => errors.length === links.length)) as {
      errors: { id: number; error_type: string; message: string; place: string }[]
    }
    expect(errors.map(({ error_type }) => error_type)).toEqual(
      expect.arrayContaining(['TypeError', 'AggregateError', 'string']),
    )
    expect(errors.find(({ error_type }) => error_type === 'TypeError')?.place).toMatch(
      /^failing-routes\.mjs:\d+ in cartTotal$/,
    )
    expect(errors.find(({ message }) => message.startsWith('The sales report'))?.place).toMatch(
      /^failing-routes\.mjs:\d+ in salesReport$/,
    )
    const id = errors.find(({ message }) => message.startsWith('Sign-in failed'))?.id
    const detail = await (await fetch(`${address}/error_dashboard/errors/${id}.json`, ADA)).text()
    expect(detail).toContain('[FILTERED]')
    expect(detail).not.toContain('correct-horse')

    await fetch(`${address}/legacy`)
    const ended = await serve.stop('SIGINT')
    expect(ended).toMatchObject({ code: 0, stderr: '' })
    const { stdout } = await faultboard(['errors', '--json', '--error-type', 'string', '--database', url], { cwd })
    expect(JSON.parse(stdout).errors[0].occurrence_count).toBe(2)
  })
})

test('serve --json and work --json print one line when they are ready', async () => {
  const cwd = await workingDirectory()
  const serve = new RunningCommand(['serve', '--port', '0', '--json'], { cwd, env: CREDENTIALS })
  const [line] = await serve.waitForOutput(/^.*\n/)
  const { url, ...facts } = JSON.parse(line)
  const database = `sqlite:${join(cwd, 'faultboard.sqlite3')}`
  expect(facts).toEqual({ username: 'ada', database, sample_url: url.replace('error_dashboard', '') })
  expect((await fetch(`${url}/errors.json`, ADA)).status).toBe(200)
  expect(await serve.stop()).toEqual({ code: 0, stdout: line, stderr: '' })

  const work = new RunningCommand(['work', '--json'], { cwd })
  const [ready] = await work.waitForOutput(/^.*\n/)
  expect(JSON.parse(ready)).toEqual({ database, engine: 'embedded' })
  expect(await work.stop()).toEqual({ code: 0, stdout: ready, stderr: '' })
})

test('requires credentials and explains how to set them', async () => {
  const { code, stderr } = await faultboard(['serve', '--port', '0'], { cwd: await workingDirectory() })
  expect(code).toBe(2)
  expect(stderr).toContain('FAULTBOARD_DASHBOARD_USERNAME')
  expect(stderr).toContain('FAULTBOARD_DASHBOARD_PASSWORD')
})

test('stores errors in a SQLite file in the working directory by default and reads PORT', async () => {
  const cwd = await workingDirectory({
    'faultboard.config.mjs':
      "export default { dashboard_username: 'ada', dashboard_password: 'correct horse', mount_path: '/faults' }",
  })
  const serve = new RunningCommand(['serve'], { cwd, env: { PORT: '0' } })
  const [, address] = await serve.waitForOutput(/Dashboard +(http:\/\/127\.0\.0\.1:\d+\/faults)\n/)
  await serve.waitForOutput(new RegExp(`Database +sqlite:${join(cwd, 'faultboard.sqlite3')}\n`))
  expect((await fetch(`${address}/overview.json`, ADA)).status).toBe(200)
  expect((await serve.stop()).code).toBe(0)
})

test('reports a port that is in use and exits with 1', async () => {
  const other = createServer().listen(0, '127.0.0.1')
  await new Promise((listening) => other.once('listening', listening))
  const { port } = other.address() as AddressInfo
  const cwd = await workingDirectory()
  const { code, stderr } = await faultboardProcess(['serve', '--port', String(port)], { cwd, env: CREDENTIALS })
  expect({ code, stderr }).toEqual({
    code: 1,
    stderr: `Port ${port} on 127.0.0.1 is in use. Choose another with --port N.\n`,
  })
  other.close()
})
