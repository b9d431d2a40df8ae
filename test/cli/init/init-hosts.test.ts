import { cpSync, readdirSync, readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { afterEach, expect, test } from 'vitest'
import { cleanUp, dashboardAt, serve } from '../../adapters/host-process.js'
import { installedFolder, TYPESCRIPT } from '../../support/processes/installed.js'
import { faultboard } from '../faultboard.js'
import { insertSteps } from './printed-steps.js'

const HOSTS = resolve('test/cli/init/hosts')
const root = installedFolder()

afterEach(cleanUp)

test.each([
  ['express', 'app.js', 'app.js', {}],
  ['express-cjs', 'app.js', 'server.js', {}],
  ['express-ts', 'src/server.ts', 'src/server.ts', TYPESCRIPT],
  ['fastify-cjs', 'index.js', 'index.js', {}],
  ['koa', 'index.js', 'index.js', {}],
  ['hono', 'src/index.ts', 'src/index.ts', TYPESCRIPT],
  ['h3', 'server.mjs', 'server.mjs', {}],
  ['nest', 'src/main.ts', 'src/main.ts', TYPESCRIPT],
  ['node', 'server.js', 'server.js', {}],
])(
  'the code that init prints for %s records the errors of the application',
  {
    timeout: 120_000,
  },
  async (name, changed, entry, env) => {
    const folder = join(root, name)
    cpSync(join(HOSTS, name), folder, { recursive: true })
    const { code, stdout, stderr } = await faultboard(['init'], { cwd: folder })
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
    const config = TYPESCRIPT === env ? 'faultboard.config.ts' : 'faultboard.config.mjs'
    expect(contents(folder)).toEqual({
      ...contents(join(HOSTS, name)),
      '.env.example': expect.stringMatching(/^FAULTBOARD_DASHBOARD_PASSWORD=$/m),
      [config]: expect.stringContaining(`application_name: "${name}"`),
    })

    expect(insertSteps(folder, stdout)).toEqual([changed])
    const { origin } = await serve(folder, [join(folder, entry)], env)
    void fetch(`${origin}/orders`, { signal: AbortSignal.timeout(5000) }).catch(() => {})
    const [error, ...others] = await dashboardAt(`${origin}/error_dashboard`).waitForErrors('Could not load orders')
    expect(others).toEqual([])
    expect(error).toMatchObject({ occurrence_count: 1, application_name: name })

    const again = await faultboard(['init'], { cwd: folder })
    expect(again.code).toBe(0)
    expect(again.stdout).toContain('Faultboard is already set up.')
  },
)

function contents(folder: string): Record<string, string> {
  const files = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile())
  const paths = files.map((entry) => join(entry.parentPath, entry.name))
  return Object.fromEntries(paths.map((file) => [file.slice(folder.length + 1), readFileSync(file, 'utf8')]))
}
