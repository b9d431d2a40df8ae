import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { arch, availableParallelism, cpus, loadavg, platform, release, totalmem } from 'node:os'
import { join } from 'node:path'

const PACKAGES = [
  ...['@photostructure/sqlite', 'pg', 'mysql2', 'kysely', '@sentry/node', 'pino'],
  ...['errsole', '@honeybadger-io/js', '@bugsnag/node', 'rollbar'],
]

/** Describes the machine, so that readers can interpret the figures. */
export function describeMachine() {
  return {
    cpu: cpus()[0]?.model.trim() ?? 'unknown',
    cores: availableParallelism(),
    memory_gb: Math.round(totalmem() / 2 ** 30),
    system: `${platform()} ${release()} ${arch()}`,
    load: loadavg().map((value) => Number(value.toFixed(2))),
    node: process.version,
    faultboard: read(new URL('../../package.json', import.meta.url)).version,
    packages: Object.fromEntries(PACKAGES.map((name) => [name, installedVersion(name)])),
  }
}

function installedVersion(name) {
  const require = createRequire(import.meta.url)
  for (const folder of require.resolve.paths(name) ?? []) {
    try {
      return read(join(folder, name, 'package.json')).version
    } catch {
      // Continues with the parent folder.
    }
  }
  return null
}

function read(file) {
  return JSON.parse(readFileSync(file, 'utf8'))
}
