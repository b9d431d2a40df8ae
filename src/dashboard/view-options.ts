import type { OptionName, Options, OptionTable, SecretOptionName, SwitchName } from '../config/options.js'
import type { Context } from '../context.js'

/** Options that views need in addition to the boolean options. A secret option here is a compile error. */
const VIEW_OPTIONS = [
  'baseline_alert_threshold_std_devs',
  'dashboard_base_url',
  'digest_frequency',
  'environment',
  'project_root',
  'quiet_hours',
  'sign_out_url',
  'trace_url_template',
] as const satisfies readonly Exclude<OptionName, SecretOptionName>[]

/** Subset of the configuration that views can read. */
export interface ViewConfiguration {
  /** All boolean options. */
  readonly switches: Pick<Options, SwitchName> & { readonly [name: string]: boolean }
  readonly options: Pick<Options, (typeof VIEW_OPTIONS)[number]>
  /** Options of diagnostics except secrets, for `readOptions`. */
  readonly diagnosticOptions: object
}

export function viewConfiguration({ config, optionTable }: Pick<Context, 'config' | 'optionTable'>): ViewConfiguration {
  const names = Object.keys(optionTable)
  const publicDiagnosticOptions = names.filter((name) => isPublicDiagnosticOption(optionTable[name]))
  return {
    switches: pick(
      config,
      names.filter((name) => typeof config[name as OptionName] === 'boolean'),
    ),
    options: pick(config, VIEW_OPTIONS),
    diagnosticOptions: pick(config, publicDiagnosticOptions),
  }
}

function isPublicDiagnosticOption(row: OptionTable[string] | undefined): boolean {
  return row?.group === 'diagnostics' && row.secret !== true
}

function pick<Picked>(config: Readonly<Record<string, unknown>>, names: readonly string[]): Picked {
  return Object.freeze(Object.fromEntries(names.map((name) => [name, config[name]]))) as Picked
}
