import { symlinkSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { afterAll, describe, expect, test } from 'vitest'
import {
  CREDENTIALS,
  cleanUp,
  createApplication,
  dashboardAt,
  isInstalled,
  run,
  serve,
} from '../adapters/host-process.js'

afterAll(cleanUp)

/** Clears the FAULTBOARD_… credentials, so that those in the code of the example are used. */
const ENV = {
  DASHBOARD_PASSWORD: CREDENTIALS.password,
  FAULTBOARD_DASHBOARD_USERNAME: '',
  FAULTBOARD_DASHBOARD_PASSWORD: '',
}

describe.each([
  ['next', 'next', ['next/dist/bin/next', 'build'], ['next/dist/bin/next', 'start']],
  ['nitro', 'nitropack', ['nitropack/dist/cli/index.mjs', 'build'], ['.output/server/index.mjs']],
])('examples/%s', (name, packageName, build, start) => {
  const missing = isInstalled(packageName) ? '' : ` (skipped: ${packageName} is not installed in test/hosts)`

  test.skipIf(missing !== '')(
    `builds and shows its error on the dashboard${missing}`,
    { timeout: 240_000 },
    async () => {
      const folder = createApplication(`examples/${name}`)
      symlinkSync(resolve('node_modules/@photostructure'), join(folder, 'node_modules/@photostructure'))
      await run(folder, build, ENV)
      const [program = '', ...flags] = start
      const own = program.startsWith('.') ? join(folder, program) : program
      const { origin } = await serve(folder, [own, ...flags], ENV, '/error_dashboard/')
      await fetch(`${origin}/orders`)
      const found = await dashboardAt(`${origin}/error_dashboard`).waitForErrors('The orders cannot be read')
      expect(found).toMatchObject([{ occurrence_count: 1, application_name: `faultboard-example-${name}` }])
    },
  )
})
