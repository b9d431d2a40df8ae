import { environmentVariable, OPTION_NAMES, type OptionName, optionRow, type Settings } from '../../options.js'

/** Settings that isolate a host from the data of the real application. */
export type IsolatedSettings = Pick<Settings, 'spool_path' | 'dashboard_username' | 'dashboard_password'> & {
  database: string
}

export const APPLICATION_NAME = 'faultboard prove'

/** Notifications and jobs would reach people and servers. Clients do not send errors here. */
const USED_GROUPS: readonly string[] = [
  'identity',
  'storage',
  'dashboard',
  'capture',
  'privacy',
  'analytics',
  'diagnostics',
]

/** Options that select data of the application, or that would change the load. */
const UNUSED_OPTIONS: readonly OptionName[] = [
  'application_name',
  'database',
  'spool_path',
  'crash_capture_path',
  'detect_unclean_shutdown',
  'diagnostic_dump_path',
  'dashboard_username',
  'dashboard_password',
  'dashboard_users',
  'api_tokens',
  'dashboard_base_url',
  'enable_rate_limiting',
  'enable_middleware',
  'enable_error_subscriber',
]

/** The settings of the application without its data, channels and callbacks. */
export function hostSettings(settings: Settings, isolated: IsolatedSettings): Settings {
  const used = Object.entries(settings).filter(
    ([name, value]) => isUsed(name as OptionName) && typeof value !== 'function',
  )
  return { ...Object.fromEntries(used), ...isolated, application_name: APPLICATION_NAME }
}

/** The environment without the variables of unused options. */
export function hostEnvironment(env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  const unused = new Set(OPTION_NAMES.filter((name) => !isUsed(name)).map(environmentVariable))
  return Object.fromEntries(Object.entries(env).filter(([name]) => !unused.has(name)))
}

function isUsed(name: OptionName): boolean {
  return USED_GROUPS.includes(optionRow(name)?.group) && !UNUSED_OPTIONS.includes(name)
}
