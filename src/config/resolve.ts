import { basename } from 'node:path'
import { DEFAULT_ENVIRONMENT, environmentName } from '../model/environment.js'
import { ConfigurationError } from '../model/errors.js'
import { unknownOption } from '../model/input/option-names.js'
import { type AcceptedNames, type AnyCase, acceptedNames, toCanonicalNames } from '../model/input/spelling.js'
import { cleanText, nearestWord } from '../model/text.js'
import { checkKind } from './kinds.js'
import { environmentVariable, type Options, type OptionTable, type Row, type Settings } from './options.js'
import { findProject, realPath } from './project.js'
import { findCommit, versionFromEnvironment } from './release.js'
import { isTestRun } from './test-runner.js'

export interface ResolvedConfiguration {
  options: Options
  /** Warnings to print once at start. */
  warnings: readonly string[]
}

/**
 * Builds the frozen configuration from defaults, environment and settings; later sources win. Throws one
 * ConfigurationError with all problems.
 */
export function resolveConfiguration(
  givenSettings: AnyCase<Settings>,
  env: NodeJS.ProcessEnv,
  table: OptionTable,
): ResolvedConfiguration {
  const names = acceptedNames(Object.keys(table))
  const { fields: settings, conflicts } = toCanonicalNames(givenSettings, names)
  const problems = [...conflicts, ...unknownNames(settings, names)]
  const values: Record<string, unknown> = Object.create(null)
  for (const [name, row] of Object.entries(table)) {
    const { value, source } = configuredValue(name, row, settings, env)
    const checkResult = checkKind(row.kind, value)
    if ('problem' in checkResult) problems.push(`${source} ${checkResult.problem}`)
    else values[name] = checkResult.value
  }
  if (problems.length > 0) throw new ConfigurationError(problems)
  if (values.enabled === false) turnOff(values)
  const options = Object.freeze(withHostDefaults(values as CheckedValues, env))
  return {
    options,
    warnings: [...unknownVariables(env, table), ...configurationWarnings(settings)],
  }
}

function configuredValue(
  name: string,
  row: Row<unknown>,
  settings: Readonly<Record<string, unknown>>,
  env: NodeJS.ProcessEnv,
): { value: unknown; source: string } {
  const setting = Object.hasOwn(settings, name) ? settings[name] : undefined
  if (setting !== undefined) return { value: setting, source: name }
  const variable = environmentVariable(name, row)
  const variableText = variable ? env[variable] : undefined
  if (variable && variableText !== undefined && variableText !== '') {
    return { value: row.kind.fromText?.(variableText), source: `${variable} (option ${name})` }
  }
  // Tests must not write to the developer's database.
  if (name === 'database' && isTestRun(env)) return { value: 'sqlite::memory:', source: name }
  return { value: row.default, source: name }
}

/** Options of a tracker that is turned off. Queries read an empty database. */
const DISABLED_SETTINGS = {
  database: 'sqlite::memory:',
  job_engine: 'embedded',
  crash_capture_path: null,
  request_scope: 'never',
}

function turnOff(values: Record<string, unknown>): void {
  for (const [name, value] of Object.entries(values)) if (value === true && isFeature(name)) values[name] = false
  Object.assign(values, DISABLED_SETTINGS)
}

function isFeature(name: string): boolean {
  return name.startsWith('enable_') || name.startsWith('detect_') || name === 'run_jobs'
}

function unknownNames(settings: Settings, names: AcceptedNames): string[] {
  return Object.keys(settings)
    .filter((name) => !names.has(name))
    .map((name) => unknownOption(name, names.keys(), '; docs/configuration.md lists all options'))
}

const CREDENTIALS = ['dashboard_username', 'dashboard_password'] as const

/**
 * Returns the shared credentials of the dashboard, or null if only other sign-ins are configured. Throws a
 * ConfigurationError if no sign-in is configured, or if the username or password is missing.
 */
export function requireSignIn(options: Options): { username: string; password: string } | null {
  const { dashboard_username, dashboard_password, dashboard_users, authenticate } = options
  const isSharedName = ({ name }: { name: string }) => name.normalize('NFC') === dashboard_username?.normalize('NFC')
  if (dashboard_users.some(isSharedName))
    throw new ConfigurationError([
      `dashboard_users contains "${dashboard_username}", which is also the dashboard_username`,
    ])
  if (dashboard_username !== null && dashboard_password !== null)
    return { username: dashboard_username, password: dashboard_password }
  const missing = CREDENTIALS.filter((name) => options[name] === null)
  const hasOtherSignIn = dashboard_users.length > 0 || authenticate !== null
  if (hasOtherSignIn && missing.length === CREDENTIALS.length) return null
  const problems = missing.map(
    (name) =>
      `${name} is missing: set it in code or as FAULTBOARD_${name.toUpperCase()}; the dashboard has no default credentials`,
  )
  const alternative = hasOtherSignIn
    ? ''
    : '. Set dashboard_users or authenticate instead to give each person an account'
  throw new ConfigurationError([...problems.slice(0, -1), `${problems.at(-1)}${alternative}`])
}

/** Values before the defaults of the host's project are applied. */
type CheckedValues = Omit<Options, 'application_name' | 'environment' | 'project_root'> &
  Required<Pick<Settings, 'application_name' | 'environment' | 'project_root'>>

function withHostDefaults(options: CheckedValues, env: NodeJS.ProcessEnv): Options {
  const project = findProject(options.project_root ?? process.cwd())
  const project_root = realPath(options.project_root ?? project.root)
  const name = options.application_name ?? (env.APP_NAME?.trim() || project.name || basename(project.root))
  return {
    ...options,
    project_root,
    application_name: cleanText(name.trim(), 255) || 'application',
    app_version: options.app_version ?? versionFromEnvironment(env) ?? project.version ?? null,
    git_sha: options.git_sha ?? findCommit(project_root, env) ?? null,
    environment: environmentName(options.environment) ?? environmentName(env.NODE_ENV) ?? DEFAULT_ENVIRONMENT,
  }
}

const PREFIX = 'FAULTBOARD_'
/** FAULTBOARD_ variables that are not options: for tests, and the debug flag and API token of the CLI. */
const OTHER_VARIABLES = /^FAULTBOARD_(TEST_|DEBUG$|TOKEN$)/

function unknownVariables(env: NodeJS.ProcessEnv, table: OptionTable): string[] {
  const known = Object.entries(table)
    .map(([name, row]) => environmentVariable(name, row))
    .filter((name) => name !== null)
  return Object.keys(env)
    .filter((name) => name.startsWith(PREFIX) && !OTHER_VARIABLES.test(name) && !known.includes(name))
    .map((name) => {
      const suggestion = nearestWord(name, known)
      return `${name} is set, but is not the variable of any option${suggestion ? `; did you mean ${suggestion}?` : ''}`
    })
}

function configurationWarnings(settings: Settings): string[] {
  const rules = settings.custom_severity_rules
  const keys = rules instanceof Map ? [...rules.keys()] : Array.isArray(rules) ? rules.map((pair) => pair?.[0]) : []
  return keys
    .filter((key): key is string => typeof key === 'string')
    .map(
      (key) => `custom_severity_rules has the string key "${key}", which never matches: use a RegExp instead, /${key}/`,
    )
}
