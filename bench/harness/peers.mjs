import { existsSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { run } from '../../scripts/services/command.mjs'

const FOLDER = fileURLToPath(new URL('..', import.meta.url))

/** Installs the packages that the suites compare with, unless they are already installed. */
export async function installPeers() {
  if (existsSync(new URL('../node_modules/@sentry/node', import.meta.url))) return
  console.log('installing peers into bench/node_modules')
  const { ok, output } = await run(
    'npm',
    ['install', '--no-audit', '--no-fund', '--omit-lockfile-registry-resolved', '--loglevel=error'],
    { cwd: FOLDER },
  )
  if (!ok) throw new Error(`npm install in bench failed:\n${output}`)
}
