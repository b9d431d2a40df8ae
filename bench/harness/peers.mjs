import { existsSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { run } from '../../scripts/services/command.mjs'

const FOLDER = fileURLToPath(new URL('..', import.meta.url))

/** Installs the packages that the suites compare with, unless they are already installed. */
export async function installPeers() {
  const { dependencies } = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8'))
  if (Object.keys(dependencies).every(isInstalled)) return
  console.log('installing peers into bench/node_modules')
  const { ok, output } = await run(
    'npm',
    ['install', '--no-audit', '--no-fund', '--omit-lockfile-registry-resolved', '--loglevel=error'],
    { cwd: FOLDER },
  )
  if (!ok) throw new Error(`npm install in bench failed:\n${output}`)
}

/** Optional packages may be missing, because they have to be compiled. */
export function isInstalled(name) {
  return existsSync(new URL(`../node_modules/${name}`, import.meta.url))
}
