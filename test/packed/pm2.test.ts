import { execFile } from 'node:child_process'
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, describe, expect, test } from 'vitest'
import { CREDENTIALS, dashboardAt, freePort } from '../adapters/host-process.js'
import { packedFolder } from '../support/processes/installed.js'
import { eventually } from '../support/tracker.js'
import { deployedApp, sample } from './deployment-samples.js'

const PM2 = resolve('test/hosts/node_modules/pm2/bin/pm2')
const missing = existsSync(PM2) ? '' : ' (skipped: pm2 is not installed in test/hosts)'

describe.skipIf(missing !== '')(`PM2 in cluster mode${missing}`, () => {
  const folder = packedFolder()
  const home = join(folder, 'pm2')
  let env: NodeJS.ProcessEnv

  const pm2 = (...args: string[]) => promisify(execFile)(process.execPath, [PM2, ...args], { cwd: folder, env })
  const logs = () => {
    const files = [join(home, 'pm2.log'), ...readdirSync(join(home, 'logs')).map((name) => join(home, 'logs', name))]
    return files.map((file) => readFileSync(file, 'utf8')).join('\n')
  }
  afterAll(() => pm2('kill'))

  test('counts every error once, even during a reload, and exits cleanly', { timeout: 120_000 }, async () => {
    const port = await freePort()
    const origin = `http://127.0.0.1:${port}`
    env = {
      ...process.env,
      ...{ PM2_HOME: home, PM2_DISABLE_VERSION_CHECK: 'true', NODE_ENV: 'production', PORT: String(port) },
      FAULTBOARD_DASHBOARD_USERNAME: CREDENTIALS.user,
      FAULTBOARD_DASHBOARD_PASSWORD: CREDENTIALS.password,
    }
    writeFileSync(join(folder, 'app.mjs'), deployedApp())
    writeFileSync(join(folder, 'ecosystem.config.cjs'), sample('PM2 and cluster', 'js'))
    const [start, reload] = sample('PM2 and cluster', 'sh').trim().split('\n')
    let sent = 0
    const fail = async () => {
      // PM2 assigns every connection to a process, so requests must not share one.
      const response = await fetch(origin, { headers: { connection: 'close' } })
      expect(response.status).toBe(500)
      sent++
    }

    await pm2(...words(start))
    await eventually(() => fetch(`${origin}/healthz`).then(({ ok }) => ok, () => false), 'the application responds') // biome-ignore format: one expression
    for (let i = 0; i < 20; i++) await fail()
    const lines = () => logs().match(/\[faultboard\].*/g) ?? []
    await eventually(() => lines().length > 0, 'the first process prints the URL')
    expect(lines()).toEqual([`[faultboard] Dashboard: http://localhost:${port}/error_dashboard`])
    let isReloading = true
    const reloaded = pm2(...words(reload)).finally(() => {
      isReloading = false
    })
    while (isReloading) await fail()
    await reloaded
    expect(sent).toBeGreaterThan(20)
    const dashboard = dashboardAt(`${origin}/error_dashboard`)
    await eventually(async () => (await dashboard.waitForErrors(''))[0]?.occurrence_count === sent, 'all are counted')
    expect(await dashboard.waitForErrors('')).toHaveLength(1)

    await pm2('stop', 'shop')
    const ends = logs().match(/exited with code .*/g)
    expect(ends).toEqual(Array.from({ length: 4 }, () => 'exited with code [0] via signal [SIGINT]'))
  })
})

function words(command = ''): string[] {
  return command.split(' ').slice(1)
}
