import {
  OPTION_NAMES,
  type OptionName,
  type Options,
  type SecretOptionName,
  type SwitchName,
} from '../config/options.js'

/** Options that views need in addition to the switches. Views write to responses, so secret options do not compile. */
const VIEW_OPTIONS = [
  'baseline_alert_threshold_std_devs',
  'dashboard_base_url',
  'digest_frequency',
  'local_variable_mode',
  'n_plus_one_threshold',
  'project_root',
  'quiet_hours',
  'trace_url_template',
] as const satisfies readonly Exclude<OptionName, SecretOptionName>[]

/** The part of the configuration that views can read. */
export interface ViewConfiguration {
  /** All boolean options. */
  readonly switches: Pick<Options, SwitchName>
  readonly options: Pick<Options, (typeof VIEW_OPTIONS)[number]>
}

export function viewConfiguration(config: Options): ViewConfiguration {
  const switches = OPTION_NAMES.filter((name) => typeof config[name] === 'boolean')
  return {
    switches: pick(config, switches) as ViewConfiguration['switches'],
    options: pick(config, VIEW_OPTIONS) as ViewConfiguration['options'],
  }
}

function pick(config: Options, names: readonly OptionName[]): object {
  return Object.freeze(Object.fromEntries(names.map((name) => [name, config[name]])))
}
