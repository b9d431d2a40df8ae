import { displayNodeOptions, HIDDEN } from './node-flags.js'

/** Variables that describe the runtime and by convention contain no secrets. */
const PUBLIC_VARIABLES = new Set([
  'CI',
  'DYNO',
  'FLY_REGION',
  'HEROKU_RELEASE_VERSION',
  'HOST',
  'HOSTNAME',
  'K_REVISION',
  'K_SERVICE',
  'LANG',
  'LC_ALL',
  'MALLOC_ARENA_MAX',
  'NODE_APP_INSTANCE',
  'NODE_ENV',
  'NODE_OPTIONS',
  'NODE_VERSION',
  'NO_COLOR',
  'PORT',
  'TERM',
  'TZ',
  'UV_THREADPOOL_SIZE',
  'WEB_CONCURRENCY',
  'npm_lifecycle_event',
  'npm_package_name',
  'npm_package_version',
])

const MAX_VARIABLES = 500

/** Lists the names of environment variables, with values only for known harmless names. */
export function environmentSection(env: NodeJS.ProcessEnv, projectRoot: string): Record<string, string> {
  const displayValue = (name: string) => {
    const value = env[name] ?? ''
    if (!PUBLIC_VARIABLES.has(name)) return HIDDEN
    return name === 'NODE_OPTIONS' ? displayNodeOptions(value, projectRoot) : value
  }
  const names = Object.keys(env).sort().slice(0, MAX_VARIABLES)
  return Object.fromEntries(names.map((name) => [name, displayValue(name)]))
}
