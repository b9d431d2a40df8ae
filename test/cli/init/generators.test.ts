import { readFileSync, symlinkSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { afterAll, describe, expect, test } from 'vitest'
import { cleanUp, createApplication, dashboardAt, isInstalled, run, serve } from '../../adapters/host-process.js'
import { faultboard } from '../faultboard.js'
import { insertSteps } from './printed-steps.js'

afterAll(cleanUp)

interface Generator {
  name: string
  /** Package of test/hosts that the application needs. */
  packageName: string | null
  changed: string[]
  /** Scripts of package.json. `nest start` is `build` and `start:prod` in one. */
  build?: string
  start?: string
}

const GENERATORS: Generator[] = [
  { name: 'express-generator', packageName: null, changed: ['app.js'] },
  { name: 'fastify-cli', packageName: 'fastify-cli', changed: ['app.js'] },
  { name: 'nest-new', packageName: '@nestjs/core', changed: ['src/main.ts'], build: 'build', start: 'start:prod' },
  {
    name: 'create-next-app',
    packageName: 'next',
    changed: ['next.config.mjs', 'src/instrumentation.js', 'src/app/error_dashboard/[[...path]]/route.js'],
    build: 'build',
  },
]

describe.each(GENERATORS)('an application of $name', ({ name, packageName, changed, build, start = 'start' }) => {
  const isMissing = packageName !== null && !isInstalled(packageName)
  const reason = isMissing ? ` (skipped: ${packageName} is not installed in test/hosts)` : ''

  test.skipIf(isMissing)(
    `an application records its errors with the code that init prints${reason}`,
    { timeout: 240_000 },
    async () => {
      const folder = createApplication(`test/cli/init/hosts/${name}`)
      symlinkSync(resolve('node_modules/@photostructure'), join(folder, 'node_modules/@photostructure'))
      if (name === 'express-generator')
        symlinkSync(resolve('node_modules/express416'), join(folder, 'node_modules/express'))
      const { code, stdout, stderr } = await faultboard(['init'], { cwd: folder })
      expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
      expect(stdout).toMatch(/FAULTBOARD_DASHBOARD_PASSWORD=\S+ npm start\n/)
      expect(insertSteps(folder, stdout)).toEqual(changed)
      if (build) await run(folder, programOf(folder, build))
      const { origin } = await serve(folder, programOf(folder, start), { FASTIFY_ADDRESS: '127.0.0.1' }, '/nowhere')
      expect((await fetch(`${origin}/orders`)).status).toBe(500)
      const found = await dashboardAt(`${origin}/error_dashboard`).waitForErrors('')
      expect(found).toMatchObject([{ message: 'Could not load orders', occurrence_count: 1, application_name: name }])
    },
  )
})

/** The command of an npm script, without npm. */
function programOf(folder: string, script: string): string[] {
  const { scripts } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as {
    scripts: Record<string, string>
  }
  const [program = '', ...args] = scripts[script]?.split(' ') ?? []
  if (program === 'node') return [join(folder, args[0] ?? '')]
  return [program === 'tsc' ? resolve('node_modules/.bin/tsc') : `.bin/${program}`, ...args]
}
