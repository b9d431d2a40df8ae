import * as core from './config/options.js'
import * as configuration from './config/resolve.js'
import { collectOptions, DIAGNOSTICS, type Intersection } from './diagnostics/diagnostics.js'
import { ConfigurationError } from './model/errors.js'
import { type AnyCase, acceptedNames, toCanonicalNames } from './model/input/spelling.js'

type DiagnosticOptions = Intersection<(typeof DIAGNOSTICS)[number]['options']>

/** All options: the table in config/options.ts and the options of the diagnostics. */
export const OPTIONS = { ...core.OPTIONS, ...collectOptions(DIAGNOSTICS) }

export type OptionName = core.OptionName | keyof DiagnosticOptions

/** Resolved configuration of a started tracker: every option has a value. */
export type Options = core.Options & core.ValuesOf<DiagnosticOptions>

/** Settings with names in snake_case, as resolved from what a host passes. */
export type CanonicalSettings = core.Settings & {
  -readonly [Name in keyof DiagnosticOptions]?: core.ValueOf<DiagnosticOptions[Name]> | undefined
}

/** Settings that a host can pass, in snake_case or camelCase. */
export type Settings = AnyCase<CanonicalSettings>

/**
 * Sets options on the object that it receives. Extends the settings only to make the compiler suggest the right name
 * for a misspelled option of `configure`.
 */
export interface SettingsFunction extends Settings {
  (config: Settings): void
}

export const OPTION_NAMES = Object.keys(OPTIONS) as OptionName[]

export function optionRow(name: OptionName): core.Row<unknown> {
  return OPTIONS[name] as core.Row<unknown>
}

/** Environment variable of an option, or null if its value has no text form. */
export function environmentVariable(name: OptionName): string | null {
  return core.environmentVariable(name, optionRow(name))
}

/** Returns the settings with names in snake_case. Throws a ConfigurationError if an option has both spellings. */
export function toCanonicalSettings(settings: Settings): CanonicalSettings {
  const { fields, conflicts } = toCanonicalNames(settings, acceptedNames(OPTION_NAMES))
  if (conflicts.length > 0) throw new ConfigurationError(conflicts)
  return fields
}

/** Builds the configuration of a tracker. Throws one ConfigurationError with all problems. */
export function resolveConfiguration(
  settings: Settings,
  env: NodeJS.ProcessEnv = process.env,
): { options: Options; warnings: readonly string[] } {
  const { options, warnings } = configuration.resolveConfiguration(settings, env, OPTIONS)
  return { options: options as Options, warnings }
}

export type { LogContext, SecretOptionName } from './config/options.js'
