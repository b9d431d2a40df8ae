import { randomBytes } from 'node:crypto'
import { resolve } from 'node:path'
import { type CanonicalSettings, environmentVariable } from '../options.js'
import { usageError } from './arguments.js'
import type { CommonFlags } from './command.js'
import { findConfigFile, readConfigFile } from './config-file.js'

export interface Configuration {
  settings: CanonicalSettings
  /** File that some settings were read from. */
  file: string | null
}

/** Settings from the file and the flags. The library adds the environment, with lower precedence. */
export async function readConfiguration(flags: CommonFlags): Promise<Configuration> {
  const file = findConfigFile(flags.config)
  // A command reads the database even where the application does not record.
  const settings: CanonicalSettings = { ...(file ? await readConfigFile(file) : {}), enabled: true }
  const { database, 'application-name': application_name } = flags
  if (database !== undefined) settings.database = fromWorkingDirectory(database)
  if (application_name !== undefined) settings.application_name = application_name
  return { settings, file }
}

/** Adds the generated credentials unless the settings or the environment contain credentials. */
export function withCredentials(
  settings: CanonicalSettings,
  generated: { username: string; password: string },
): CanonicalSettings {
  const { dashboard_username, dashboard_password, ...otherSettings } = settings
  return {
    ...otherSettings,
    dashboard_username: dashboard_username ?? fromEnvironment('dashboard_username') ?? generated.username,
    dashboard_password: dashboard_password ?? fromEnvironment('dashboard_password') ?? generated.password,
  }
}

export function hasPassword({ dashboard_password }: CanonicalSettings): boolean {
  return (dashboard_password ?? fromEnvironment('dashboard_password')) !== undefined
}

/** Sign-in options that the settings or the environment contain. */
export function signInOptions(settings: CanonicalSettings): string[] {
  const hasShared =
    hasPassword(settings) && (settings.dashboard_username ?? fromEnvironment('dashboard_username')) !== undefined
  const hasUsers = (settings.dashboard_users ?? fromEnvironment('dashboard_users')) !== undefined
  return [
    ...(hasShared ? ['dashboard_username', 'dashboard_password'] : []),
    ...(hasUsers ? ['dashboard_users'] : []),
    ...(settings.authenticate ? ['authenticate'] : []),
  ]
}

/** Credentials from the flags, else from the configuration file, else from the environment. */
export async function resolveCredentials(
  flags: CommonFlags,
  credentialFlags: { username: string | undefined; password: string | undefined },
): Promise<{ username: string; password: string }> {
  // Does not read the file if it is not needed, because it may be unreadable.
  const settings = credentialFlags.username && credentialFlags.password ? {} : (await readConfiguration(flags)).settings
  const username = credentialFlags.username ?? settings.dashboard_username ?? fromEnvironment('dashboard_username')
  const password = credentialFlags.password ?? settings.dashboard_password ?? fromEnvironment('dashboard_password')
  if (username && password) return { username, password }
  const missing = username ? 'password' : password ? 'username' : 'username and password'
  throw usageError(
    `The dashboard ${missing} ${username || password ? 'is' : 'are'} missing: set FAULTBOARD_TOKEN, or FAULTBOARD_DASHBOARD_USERNAME and FAULTBOARD_DASHBOARD_PASSWORD, or pass --username and --password`,
  )
}

export function randomPassword(): string {
  return randomBytes(12).toString('base64url')
}

function fromEnvironment(name: 'dashboard_username' | 'dashboard_password' | 'dashboard_users'): string | undefined {
  return process.env[environmentVariable(name) ?? ''] || undefined
}

/** A path on the command line is relative to the working directory, not to the project root. */
function fromWorkingDirectory(database: string): string {
  const [, file] = /^sqlite:(?:\/\/(?=\/))?(.+)$/.exec(database) ?? []
  return file && file !== ':memory:' ? `sqlite:${resolve(file)}` : database
}
