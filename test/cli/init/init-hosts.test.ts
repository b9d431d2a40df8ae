import { execFileSync } from 'node:child_process'
import { cpSync, readdirSync, readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { afterEach, describe, expect, test } from 'vitest'
import { readHost } from '../../../src/cli/init/host.js'
import { planFor } from '../../../src/cli/init/recognise.js'
import { cleanUp, dashboardAt, serve } from '../../adapters/host-process.js'
import { installedFolder, TYPESCRIPT } from '../../support/installed.js'
import { faultboard } from '../faultboard.js'

const HOSTS = resolve('test/cli/init/hosts')
const root = installedFolder()

afterEach(cleanUp)

describe.each([
  ['express', 'app.js', {}],
  ['express-cjs', 'server.js', {}],
  ['express-ts', 'src/server.ts', TYPESCRIPT],
  ['fastify-cjs', 'index.js', {}],
  ['koa', 'index.js', {}],
  ['hono', 'src/index.ts', TYPESCRIPT],
  ['h3', 'server.mjs', {}],
  ['nest', 'src/main.ts', TYPESCRIPT],
  ['node', 'server.js', {}],
])('an application of %s', (name, entry, env) => {
  const original = join(HOSTS, name)
  const folder = join(root, name)

  test('has its errors on the dashboard after init --yes, which wrote what it had shown', {
    timeout: 120_000,
  }, async () => {
    cpSync(original, folder, { recursive: true })
    const { code, stdout, stderr } = await faultboard(['init', '--yes'], { cwd: folder })
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
    expect(filesOf(folder)).toEqual(patched(name, stdout))
    expect(filesOf(folder)).not.toEqual(filesOf(original))
    expect(planFor(readHost(folder, undefined))).toMatchObject({
      changes: [],
      present: [expect.any(String)],
      by_hand: [],
    })
    expect(readFileSync(join(folder, '.env.example'), 'utf8')).toMatch(/^FAULTBOARD_DASHBOARD_PASSWORD=$/m)

    const { origin } = await serve(folder, [join(folder, entry)], env)
    void fetch(`${origin}/orders`, { signal: AbortSignal.timeout(5000) }).catch(() => {})
    const [error, ...others] = await dashboardAt(`${origin}/error_dashboard`).recorded('The orders cannot be read')
    expect(others).toEqual([])
    expect(error).toMatchObject({ occurrence_count: 1, application_name: name })
  })
})

/** The files of the original after the diff that was shown, made by git. */
function patched(name: string, shown: string): Record<string, string> {
  const folder = join(root, `${name}-patched`)
  cpSync(join(HOSTS, name), folder, { recursive: true })
  const diff = shown.slice(shown.indexOf('\n--- ') + 1, shown.indexOf('\n\nWritten: ') + 1)
  execFileSync('git', ['apply', '-'], { cwd: folder, input: diff, stdio: ['pipe', 'pipe', 'pipe'] })
  return filesOf(folder)
}

function filesOf(folder: string): Record<string, string> {
  const names = readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && !entry.name.includes('sqlite3'))
    .map((entry) => join(entry.parentPath, entry.name))
    .filter((file) => !file.includes('-spool/'))
  return Object.fromEntries(names.sort().map((file) => [file.slice(folder.length + 1), readFileSync(file, 'utf8')]))
}
