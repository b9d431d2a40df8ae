import { describe, expect, test } from 'vitest'
import { camelCase } from '../../src/model/input/spelling.js'
import { environmentVariable, OPTION_NAMES, OPTIONS, type OptionName, resolveConfiguration } from '../../src/options.js'

/** Every option that the specification and the decisions name, with the default stated there. */
const STATED: Partial<Record<OptionName, unknown>> = {
  enable_middleware: true,
  enable_error_subscriber: true,
  crash_capture_path: null,
  custom_severity_rules: [],
  max_backtrace_lines: 50,
  application_name: null,
  retention_days: 90,
  max_occurrences_per_error: 1000,
  custom_fingerprint: null,
  sampling_rate: 1,
  before_log_callback: null,
  async_logging: false,
  time_zone: 'UTC',
  dashboard_username: null,
  dashboard_password: null,
  dashboard_users: [],
  authenticate: null,
  mount_path: '/error_dashboard',
  dashboard_base_url: null,
  enable_rate_limiting: false,
  rate_limit_per_minute: 100,
  enable_platform_comparison: true,
  enable_similar_errors: true,
  enable_baseline_alerts: false,
  baseline_alert_threshold_std_devs: 2,
  baseline_alert_severities: ['critical', 'high'],
  baseline_alert_cooldown_minutes: 120,
  enable_chat_notifications: false,
  chat_webhook_url: null,
  community_chat_webhook_url: null,
  enable_email_notifications: false,
  notification_email_recipients: [],
  incident_integration_key: null,
  severity_thresholds: { chat: 'low', community_chat: 'low', email: 'low', incident: 'critical', webhook: 'low' },
  notification_cooldown_minutes: 5,
  notification_environments: null,
  notification_max_per_hour: 60,
  client_max_requests_per_minute: { per_address: 300, total: 6000 },
  client_max_bytes_per_minute: { per_address: 5_000_000, total: 20_000_000 },
  client_max_new_errors_per_hour: 200,
  client_max_stored_bytes_per_day: 100_000_000,
  client_max_severity: 'high',
  enable_client_paging: false,
  notification_threshold_alerts: [10, 50, 100, 500, 1000],
  enable_breadcrumbs: false,
  breadcrumb_buffer_size: 40,
  breadcrumb_categories: null,
  enable_request_guard_tracking: false,
  detect_swallowed_exceptions: false,
  swallowed_exception_threshold: 0.95,
  swallowed_exception_flush_interval: 60,
  swallowed_exception_max_cache_size: 1000,
  swallowed_exception_ignore_classes: [],
  enable_diagnostic_dump: false,
  source_code_context_lines: 5,
  source_code_cache_ttl: 3600,
}

const DASHBOARD_USER = {
  name: 'anna',
  role: 'viewer',
  email: 'anna@shop.example',
  password_hash: `scrypt:16384:8:1:${'s'.repeat(22)}:${'k'.repeat(43)}`,
}

const API_TOKEN = { name: 'ci', role: 'viewer', token_hash: `sha256:${'a'.repeat(64)}`, expires_at: '2027-01-31' }

/** Two values of each option as text and as typed values; those without text can be set in code only. */
const TEXTS: Record<OptionName, [text: string, value: unknown] | null> = {
  enabled: ['false', false],
  application_name: ['shop', 'shop'],
  environment: ['staging', 'staging'],
  app_version: ['1.2.3', '1.2.3'],
  git_sha: ['abc123', 'abc123'],
  project_root: ['/nowhere/shop', '/nowhere/shop'],
  time_zone: ['Asia/Kolkata', 'Asia/Kolkata'],
  database: ['postgres://db.example/shop', 'postgres://db.example/shop'],
  spool_path: ['/nowhere/spool', '/nowhere/spool'],
  spool_max_bytes: ['1000', 1000],
  retention_days: ['null', null],
  audit_retention_days: ['30', 30],
  max_occurrences_per_error: ['5', 5],
  dashboard_username: ['anna', 'anna'],
  dashboard_password: ['x:y z', 'x:y z'],
  dashboard_users: [JSON.stringify([DASHBOARD_USER]), [DASHBOARD_USER]],
  api_tokens: [JSON.stringify([API_TOKEN]), [API_TOKEN]],
  authenticate: null,
  sign_in_url: ['/login?next={return_to}', '/login?next={return_to}'],
  sign_out_url: ['https://sso.example/logout', 'https://sso.example/logout'],
  mount_path: ['/admin/errors', '/admin/errors'],
  dashboard_base_url: ['https://shop.example', 'https://shop.example'],
  enable_rate_limiting: ['on', true],
  rate_limit_per_minute: ['7', 7],
  enable_middleware: ['0', false],
  enable_error_subscriber: ['false', false],
  crash_capture_path: ['/nowhere/crash', '/nowhere/crash'],
  async_logging: ['TRUE', true],
  sampling_rate: ['0.25', 0.25],
  ignored_exceptions: ['AbortError, NotFound', ['AbortError', 'NotFound']],
  before_log_callback: null,
  custom_fingerprint: null,
  custom_severity_rules: null,
  max_backtrace_lines: ['10', 10],
  trusted_proxies: ['loopback, 10.0.0.0/8,2001:db8::1', ['loopback', '10.0.0.0/8', '2001:db8::1']],
  enable_breadcrumbs: ['1', true],
  filter_sensitive_data: ['off', false],
  sensitive_data_patterns: ['salary,iban', ['salary', 'iban']],
  enable_platform_comparison: ['off', false],
  enable_similar_errors: ['off', false],
  enable_baseline_alerts: ['on', true],
  baseline_alert_threshold_std_devs: ['2.5', 2.5],
  baseline_alert_severities: ['critical', ['critical']],
  baseline_alert_cooldown_minutes: ['30', 30],
  enable_chat_notifications: ['on', true],
  chat_webhook_url: ['https://chat.example/x', 'https://chat.example/x'],
  community_chat_webhook_url: ['https://chat.example/y', 'https://chat.example/y'],
  enable_email_notifications: ['on', true],
  notification_email_recipients: ['a@x.example,b@x.example', ['a@x.example', 'b@x.example']],
  incident_integration_key: ['key', 'key'],
  severity_thresholds: [
    'chat=high, incident=medium',
    { chat: 'high', community_chat: 'low', email: 'low', incident: 'medium', webhook: 'low' },
  ],
  notification_cooldown_minutes: ['1', 1],
  notification_environments: ['production, staging', ['production', 'staging']],
  notification_max_per_hour: ['10', 10],
  client_max_requests_per_minute: ['per_address=10', { per_address: 10, total: 6000 }],
  client_max_bytes_per_minute: ['per_address=1000, total=5000', { per_address: 1000, total: 5000 }],
  client_max_new_errors_per_hour: ['5', 5],
  client_max_stored_bytes_per_day: ['1000000', 1_000_000],
  client_max_severity: ['critical', 'critical'],
  enable_client_paging: ['on', true],
  notification_threshold_alerts: ['5,10', [5, 10]],
  webhook_url: ['https://hooks.example/x', 'https://hooks.example/x'],
  webhook_secret: ['signed', 'signed'],
  notification_email_from: ['errors@x.example', 'errors@x.example'],
  mail_transport: null,
  smtp_url: ['smtps://name:word@mail.example', 'smtps://name:word@mail.example'],
  incident_events_url: ['https://events.example/v2', 'https://events.example/v2'],
  quiet_hours: ['22:00-07:00', '22:00-07:00'],
  quiet_hours_bypass_severity: ['null', null],
  digest_frequency: ['weekly', 'weekly'],
  digest_hour: ['6', 6],
  block_private_addresses: ['on', true],
  job_engine: ['bullmq', 'bullmq'],
  redis_url: ['rediss://cache.example:6380', 'rediss://cache.example:6380'],
  job_database: ['postgres://db.example/jobs', 'postgres://db.example/jobs'],
  run_jobs: ['off', false],
  breadcrumb_buffer_size: ['20', 20],
  breadcrumb_categories: ['http,sql', ['http', 'sql']],
  request_scope: ['always', 'always'],
  user_callback: null,
  detect_unclean_shutdown: ['on', true],
  enable_source_maps: ['off', false],
  source_map_max_bytes: ['50000', 50_000],
  source_map_max_releases: ['5', 5],
  max_full_occurrences_per_minute: ['10', 10],
  max_event_loop_lag_ms: ['500', 500],
  max_groups_per_place: ['10', 10],
  enable_local_variables: ['on', true],
  local_variable_mode: ['always', 'always'],
  local_variable_max_per_second: ['3', 3],
  local_variable_max_pause_ms_per_second: ['5', 5],
  local_variable_max_count: ['4', 4],
  local_variable_max_depth: ['2', 2],
  local_variable_max_string_length: ['50', 50],
  local_variable_max_array_items: ['5', 5],
  local_variable_max_hash_items: ['6', 6],
  local_variable_filter_patterns: ['iban, tax', ['iban', 'tax']],
  enable_instance_variables: ['on', true],
  instance_variable_max_count: ['7', 7],
  detect_swallowed_exceptions: ['on', true],
  swallowed_exception_threshold: ['0.5', 0.5],
  swallowed_exception_flush_interval: ['5', 5],
  swallowed_exception_max_cache_size: ['50', 50],
  swallowed_exception_ignore_classes: ['Declined, Busy', ['Declined', 'Busy']],
  enable_diagnostic_dump: ['on', true],
  enable_heap_snapshots: ['on', true],
  diagnostic_dump_path: ['/nowhere/dumps', '/nowhere/dumps'],
  enable_system_health: ['1', true],
  enable_process_health: ['true', true],
  enable_request_guard_tracking: ['on', true],
  enable_deprecation_tracking: ['on', true],
  detect_n_plus_one_queries: ['on', true],
  n_plus_one_threshold: ['8', 8],
  source_code_context_lines: ['9', 9],
  source_code_cache_ttl: ['60', 60],
  enable_git_blame: ['on', true],
  trace_url_template: ['https://traces.example/{trace_id}', 'https://traces.example/{trace_id}'],
  git_repository_url: ['https://git.example/shop/api', 'https://git.example/shop/api'],
}

const credentials = { dashboard_username: 'admin', dashboard_password: 'x' }

describe('options of the specification', () => {
  test.each(Object.entries(STATED))('has the specified default for the option %s', (name, value) => {
    expect(OPTIONS[name as OptionName]?.default).toEqual(value)
  })
})

describe('environment variables', () => {
  test.each(OPTION_NAMES.filter((name) => TEXTS[name]))('environment variables set the option %s', (name) => {
    const [text, value] = TEXTS[name] ?? []
    const variable = `FAULTBOARD_${name.toUpperCase()}`
    expect(environmentVariable(name)).toBe(variable)
    const environment = { FAULTBOARD_DASHBOARD_USERNAME: 'admin', FAULTBOARD_DASHBOARD_PASSWORD: 'x', [variable]: text }
    expect(resolveConfiguration({}, environment).options[name]).toEqual(value)
  })

  test.each(OPTION_NAMES.filter((name) => !TEXTS[name]))(
    'no environment variable exists for %s, which has no text form',
    (name) => {
      expect(environmentVariable(name)).toBeNull()
    },
  )

  test.each(OPTION_NAMES.filter((name) => TEXTS[name]))('code overrides the environment variable for %s', (name) => {
    const [text, value] = TEXTS[name] ?? []
    const { options } = resolveConfiguration(
      { ...credentials, [name]: value },
      { [`FAULTBOARD_${name.toUpperCase()}`]: text },
    )
    const other = resolveConfiguration(
      { ...credentials, [name]: value },
      { [`FAULTBOARD_${name.toUpperCase()}`]: 'no such value' },
    )
    expect(options[name]).toEqual(value)
    expect(other.options[name]).toEqual(value)
  })
})

const TRANSPORT = { sendMail: async () => {} }
/** Values of options without a text form. */
const CODE_VALUES: Partial<Record<OptionName, unknown>> = {
  authenticate: () => null,
  before_log_callback: () => true,
  custom_fingerprint: () => 'x',
  custom_severity_rules: [[/Payment/, 'critical']],
  mail_transport: TRANSPORT,
  user_callback: () => 7,
}

describe('camelCase names', () => {
  const sample = (name: OptionName) => TEXTS[name]?.[1] ?? CODE_VALUES[name] ?? null

  test.each(OPTION_NAMES)('accepts the option %s in camelCase', (name) => {
    const { options } = resolveConfiguration({ [camelCase(name)]: sample(name) }, {})
    expect(options[name]).toEqual(sample(name))
  })

  test.each(OPTION_NAMES.filter((name) => name.includes('_')))('rejects two spellings of the option %s', (name) => {
    const settings = { [name]: OPTIONS[name].default, [camelCase(name)]: sample(name) ?? OPTIONS[name].default }
    expect(() => resolveConfiguration(settings, {})).toThrow(
      `${name} and ${camelCase(name)} are two spellings of one name: use one of them`,
    )
  })

  const mappings = OPTION_NAMES.filter(
    (name) => Object.getPrototypeOf(OPTIONS[name].default ?? '') === Object.prototype,
  )

  test.each(mappings)('accepts the keys of the option %s in camelCase', (name) => {
    const keys = Object.entries(OPTIONS[name].default as object)
    const settings = { [name]: Object.fromEntries(keys.map(([key, value]) => [camelCase(key), value])) }
    expect(resolveConfiguration(settings, {}).options[name]).toEqual(OPTIONS[name].default)
  })

  test('covers the mappings', () => {
    expect(mappings).toContain('severity_thresholds')
    expect(mappings).toContain('client_max_bytes_per_minute')
  })
})

const FROM_THE_HOST = ['environment', 
  'application_name', 'project_root', 'app_version', 'git_sha', 'dashboard_username', 'dashboard_password',
] // biome-ignore format: a word list reads best as lines of words

test('accepts every default as a valid value', () => {
  const { options } = resolveConfiguration(credentials, {})
  for (const name of OPTION_NAMES) {
    if (FROM_THE_HOST.includes(name)) continue
    expect(options[name], name).toEqual(OPTIONS[name].default)
  }
})

test('every option has a description', () => {
  for (const name of OPTION_NAMES) expect(OPTIONS[name].text.length, name).toBeGreaterThan(15)
})

test.each(['1e1', '0x10', '1.5'])('rejects %s in the environment for a whole number', (text) => {
  const environment = { FAULTBOARD_RETENTION_DAYS: text }
  expect(() => resolveConfiguration(credentials, environment)).toThrow('must be a whole number')
})
