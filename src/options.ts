import * as core from './config/options.js'
import * as configuration from './config/resolve.js'
import { DIAGNOSTICS, type Intersection, optionsOf } from './diagnostics/diagnostics.js'

type DiagnosticOptions = Intersection<(typeof DIAGNOSTICS)[number]['options']>

/** All options: the table in config/options.ts and the options of the diagnostics. */
export const OPTIONS = { ...core.OPTIONS, ...optionsOf(DIAGNOSTICS) }

export type OptionName = core.OptionName | keyof DiagnosticOptions

/** Resolved configuration of a started tracker: every option has a value. */
export type Options = core.Options & core.ValuesOf<DiagnosticOptions>

/** Settings that a host can pass. Severity rules can also be a Map. */
export type Settings = core.Settings & {
  -readonly [Name in keyof DiagnosticOptions]?: core.ValueOf<DiagnosticOptions[Name]> | undefined
}

export const OPTION_NAMES = Object.keys(OPTIONS) as OptionName[]

export function optionRow(name: OptionName): core.Row<unknown> {
  return OPTIONS[name] as core.Row<unknown>
}

/** Environment variable of an option, or null if its value has no text form. */
export function environmentVariable(name: OptionName): string | null {
  return core.environmentVariable(name, optionRow(name))
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
