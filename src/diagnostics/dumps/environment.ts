import { HIDDEN, shownOptions } from './node-flags.js'

/** Variables that say how the process runs and by custom hold nothing that must stay hidden. */
const SHOWN = new Set([
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

const MAX_NAMES = 500

/** Which variables are set. A value is shown only where its name is known to be harmless: most secrets have other names. */
export function environmentNames(env: NodeJS.ProcessEnv, project_root: string): Record<string, string> {
  const shown = (name: string) => {
    const value = env[name] ?? ''
    if (!SHOWN.has(name)) return HIDDEN
    return name === 'NODE_OPTIONS' ? shownOptions(value, project_root) : value
  }
  const names = Object.keys(env).sort().slice(0, MAX_NAMES)
  return Object.fromEntries(names.map((name) => [name, shown(name)]))
}
