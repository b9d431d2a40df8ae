import { SEVERITIES } from '../model/severity.js'
import {
  boolean,
  callback,
  choice,
  database,
  errorMatcher,
  hoursOfDay,
  httpUrl,
  integer,
  type Kind,
  listOf,
  type MailTransport,
  mailTransport,
  mapping,
  mountPath,
  number,
  orNull,
  path,
  pattern,
  postgresUrl,
  proxyRanges,
  redisUrl,
  severityRules,
  smtpUrl,
  text,
  timeZone,
  traceUrl,
  userName,
} from './kinds.js'

/** What a callback of the host is told about the error beside the thrown value itself. */
export interface LogContext {
  error_type: string
  message: string
  platform: string | null
  user_id: string | null
  request_url: string | null
  app_version: string | null
  severity: string | null
}

export interface Row<T> {
  readonly kind: Kind<T>
  readonly default: T
  readonly group: Group
  readonly text: string
  /** Masked wherever the configuration is shown. */
  readonly secret?: true
}

export type Group = keyof typeof GROUPS

export const GROUPS = {
  identity: 'Identity',
  storage: 'Storage',
  dashboard: 'Dashboard',
  capture: 'Capture',
  clients: 'Client errors',
  privacy: 'Privacy',
  analytics: 'Analytics',
  notifications: 'Notifications',
  jobs: 'Jobs',
  diagnostics: 'Deep diagnostics',
} as const

const THRESHOLDS = { chat: 'low', community_chat: 'low', email: 'low', incident: 'critical', webhook: 'low' } as const
/** Defaults of the limits that apply to one client address and to all addresses together, in each process. */
export const CLIENT_REQUESTS = { per_address: 300, total: 6000 }
export const CLIENT_BYTES = { per_address: 5_000_000, total: 20_000_000 }
type AddressLimits = Readonly<Partial<typeof CLIENT_REQUESTS>>
const severity = choice(SEVERITIES)
const row = <T>(definition: Row<T>): Row<T> => definition
const secretRow = <T>(definition: Row<T>): Row<T> & { readonly secret: true } => ({ ...definition, secret: true })

/**
 * THE TABLE: every switch and setting, one row each. The types, the validation, the environment variables, the settings
 * page and docs/configuration.md all follow from it.
 */
export const OPTIONS = {
  application_name: row<string | null>({
    group: 'identity',
    kind: orNull(text),
    default: null,
    text: "Name of the application the errors belong to. Left out: APP_NAME, then the name in the host's package.json.",
  }),
  environment: row<string | null>({
    group: 'identity',
    kind: orNull(text),
    default: null,
    text: 'Name of the environment, stored with each occurrence. Left out: NODE_ENV.',
  }),
  app_version: row<string | null>({
    group: 'identity',
    kind: orNull(text),
    default: null,
    text: "Version of the running application. Left out: APP_VERSION or RELEASE_VERSION, then the platform's number of the release (HEROKU_RELEASE_VERSION, K_REVISION …), then the version in the host's package.json.",
  }),
  git_sha: row<string | null>({
    group: 'identity',
    kind: orNull(text),
    default: null,
    text: 'Commit the application was built from. Left out: GIT_SHA, GIT_COMMIT, SOURCE_VERSION and the like, the variables of common platforms and CI services, then the HEAD of the repository around project_root, read once at start.',
  }),
  project_root: row<string | null>({
    group: 'identity',
    kind: orNull(path),
    default: null,
    text: 'Folder of the host application; paths in stacks are shown and grouped relative to it. Left out: the nearest folder with a package.json, upwards from the working directory.',
  }),
  time_zone: row<string>({
    group: 'identity',
    kind: timeZone,
    default: 'UTC',
    text: 'Time zone in which days and hours are cut and times are shown.',
  }),

  database: secretRow<string | object>({
    group: 'storage',
    kind: database,
    default: 'sqlite:faultboard.sqlite3',
    text: "Where errors are kept: sqlite:FILE, postgres://…, mysql://…, or the host's own pg Pool, mysql2 pool, node:sqlite or better-sqlite3 handle. A separate database is another address.",
  }),
  spool_path: row<string | null>({
    group: 'storage',
    kind: orNull(path),
    default: null,
    text: 'Folder for errors that could not be written to the database yet. Left out: beside the SQLite file, or a private folder in the temporary directory.',
  }),
  spool_max_bytes: row<number>({
    group: 'storage',
    kind: integer(0, 10_000_000_000),
    default: 67_108_864,
    text: 'Most bytes the spool folder may hold; what comes after is dropped and counted.',
  }),
  retention_days: row<number | null>({
    group: 'storage',
    kind: orNull(integer(1, 36_500)),
    default: 90,
    text: 'Errors not seen for this many days are deleted, once a day by itself and by `faultboard cleanup`; null keeps all.',
  }),
  max_occurrences_per_error: row<number>({
    group: 'storage',
    kind: integer(1, 1_000_000),
    default: 1000,
    text: 'How many of the newest occurrences of an error are kept in full; counts and charts still know all of them.',
  }),

  dashboard_username: row<string | null>({
    group: 'dashboard',
    kind: orNull(userName),
    default: null,
    text: 'Name for signing in to the dashboard. Required: there is no default.',
  }),
  dashboard_password: secretRow<string | null>({
    group: 'dashboard',
    kind: orNull(text),
    default: null,
    text: 'Password for signing in to the dashboard. Required: there is no default.',
  }),
  mount_path: row<string>({
    group: 'dashboard',
    kind: mountPath,
    default: '/error_dashboard',
    text: 'Path at which the dashboard is mounted.',
  }),
  dashboard_base_url: row<string | null>({
    group: 'dashboard',
    kind: orNull(httpUrl),
    default: null,
    text: 'Address of the host as its users reach it, such as https://ops.example/shop: its path stands before every link of the dashboard when a proxy takes it from the front (a trusted proxy may also say so by X-Forwarded-Prefix), and messages link to it.',
  }),
  trace_url_template: row<string | null>({
    group: 'dashboard',
    kind: orNull(traceUrl),
    default: null,
    text: 'Where traces are looked at, such as https://traces.example/trace/{trace_id}, for links from errors that happened within a span of OpenTelemetry; {span_id} may stand in it, too.',
  }),
  enable_rate_limiting: row<boolean>({
    group: 'dashboard',
    kind: boolean,
    default: false,
    text: 'Limits requests per client address to the dashboard. Failed sign-ins are limited always.',
  }),
  rate_limit_per_minute: row<number>({
    group: 'dashboard',
    kind: integer(1, 1_000_000),
    default: 100,
    text: 'Requests a client address may make in a minute when rate limiting is on.',
  }),

  enable_middleware: row<boolean>({
    group: 'capture',
    kind: boolean,
    default: true,
    text: 'Records what the handlers of the web framework throw. Errors with a status from 400 to 499 are meant for the client: they are counted as client_error, not recorded.',
  }),
  enable_error_subscriber: row<boolean>({
    group: 'capture',
    kind: boolean,
    default: true,
    text: 'Records what is reported anywhere in the process: Tracker.report, uncaught exceptions, rejections.',
  }),
  crash_capture_path: row<string | null>({
    group: 'capture',
    kind: orNull(path),
    default: null,
    text: 'Folder for crash files, imported at the next start; setting it turns crash capture on. Relative to project_root.',
  }),
  detect_unclean_shutdown: row<boolean>({
    group: 'capture',
    kind: boolean,
    default: false,
    text: 'With crash_capture_path: records UncleanShutdown when a process is found gone that never ended (SIGKILL, SIGSEGV, abort, power). A plain SIGTERM or SIGINT that the host does not handle looks the same.',
  }),
  async_logging: row<boolean>({
    group: 'capture',
    kind: boolean,
    default: false,
    text: 'false: LogError settles when the row is committed. true: it settles when the event is accepted, and is written in the background.',
  }),
  sampling_rate: row<number>({
    group: 'capture',
    kind: number(0, 1),
    default: 1,
    text: 'Share of errors that is recorded; critical ones always are.',
  }),
  ignored_exceptions: row<readonly (string | RegExp | (abstract new (...args: never[]) => unknown))[]>({
    group: 'capture',
    kind: listOf(errorMatcher),
    default: [],
    text: 'Errors that are never recorded, by type name, RegExp for the type name, or class.',
  }),
  before_log_callback: row<((error: unknown, context: LogContext) => boolean | undefined) | null>({
    group: 'capture',
    kind: orNull(callback()),
    default: null,
    text: 'Receives the exception and a context; returning false skips the error.',
  }),
  custom_fingerprint: row<((error: unknown, context: LogContext) => string | null | undefined) | null>({
    group: 'capture',
    kind: orNull(callback()),
    default: null,
    text: 'Receives the exception and a context; the string it returns decides the grouping instead of type, message and place.',
  }),
  custom_severity_rules: row<readonly (readonly [RegExp, (typeof SEVERITIES)[number]])[]>({
    group: 'capture',
    kind: severityRules,
    default: [],
    text: 'Ordered mapping from a RegExp for the error type to a severity; the first match wins, a string key never matches.',
  }),
  max_backtrace_lines: row<number>({
    group: 'capture',
    kind: integer(1, 1000),
    default: 50,
    text: 'Lines of a backtrace that are stored.',
  }),
  trusted_proxies: row<readonly string[]>({
    group: 'capture',
    kind: proxyRanges,
    default: [],
    text: 'Proxies whose X-Forwarded-For and Forwarded headers are believed when they tell the address of the client; `private` stands for the private and link-local ranges. An empty list, `none` in the environment: no header is believed.',
  }),
  enable_breadcrumbs: row<boolean>({
    group: 'capture',
    kind: boolean,
    default: false,
    text: 'Keeps a bounded trail of what a request did before it failed.',
  }),
  breadcrumb_buffer_size: row<number>({
    group: 'capture',
    kind: integer(1, 1000),
    default: 40,
    text: 'How many of the newest breadcrumbs of a request are kept.',
  }),
  breadcrumb_categories: row<readonly string[] | null>({
    group: 'capture',
    kind: orNull(listOf(text)),
    default: null,
    text: 'The only categories of breadcrumbs that are kept (http, sql, redis, console, log, deprecation, or your own words); null keeps all.',
  }),
  request_scope: row<'auto' | 'always' | 'never'>({
    group: 'capture',
    kind: choice(['auto', 'always', 'never']),
    default: 'auto',
    text: 'Whether every request has a scope of its own (AsyncLocalStorage), by which Tracker.report, LogError, log entries and what escapes to the process find its request, user, tags and breadcrumbs. auto: on Node.js 24 and later, and when enable_breadcrumbs or crash_capture_path is set; otherwise from the first use of Tracker.report, LogError, setContext, setTags, setUser, withScope or a subscriber on, because on Node.js 20 and 22 a scope costs some microseconds a request.',
  }),
  user_callback: row<((request: unknown) => unknown) | null>({
    group: 'capture',
    kind: orNull(callback()),
    default: null,
    text: "Receives the framework's request and returns the user's id, or an object with an id. It must be synchronous: a promise is ignored. Left out: the usual places (request.user, request.auth, request.session, ctx.state.user).",
  }),
  enable_source_maps: row<boolean>({
    group: 'capture',
    kind: boolean,
    default: true,
    text: 'Shows stacks of compiled and bundled code in the original source, by source maps inside project_root. Nothing is ever fetched.',
  }),
  source_map_max_bytes: row<number>({
    group: 'capture',
    kind: integer(10_000, 100_000_000),
    default: 20_000_000,
    text: 'Largest source map, and largest script, that faultboard sourcemaps upload stores; the sources kept with a map may be as large once more.',
  }),
  source_map_max_releases: row<number>({
    group: 'capture',
    kind: integer(1, 10_000),
    default: 50,
    text: 'Releases of which source maps are kept, the newest uploads first; an upload removes those of older ones.',
  }),
  max_full_occurrences_per_minute: row<number>({
    group: 'capture',
    kind: integer(1, 1_000_000),
    default: 1000,
    text: 'Storm guard: beyond this many of one error in a minute and process, one in ten (then one in a hundred, ...) is kept in full; all are counted.',
  }),
  max_event_loop_lag_ms: row<number | null>({
    group: 'capture',
    kind: orNull(integer(1, 60_000)),
    default: 200,
    text: 'Lag guard: while the event loop is later than this, and for a second after, errors are recorded without parameters, context and breadcrumbs; null never leaves them out.',
  }),
  max_groups_per_place: row<number>({
    group: 'capture',
    kind: integer(1, 1_000_000),
    default: 200,
    text: 'Flood guard: once one place has made this many groups in an hour and process, its further new messages and types share one group.',
  }),

  client_max_requests_per_minute: row<AddressLimits>({
    group: 'clients',
    kind: mapping(CLIENT_REQUESTS, integer(1, 1_000_000_000)),
    default: CLIENT_REQUESTS,
    text: 'Requests to the reporting endpoint and the Sentry intake per minute and process, from one address and in total; every further error in a request counts as one more. Beyond it: 429.',
  }),
  client_max_bytes_per_minute: row<AddressLimits>({
    group: 'clients',
    kind: mapping(CLIENT_BYTES, integer(1, 1_000_000_000_000)),
    default: CLIENT_BYTES,
    text: 'Bytes of their bodies per minute and process after decompression, from one address and in total. Reading stops at the limit, with 429.',
  }),
  client_max_new_errors_per_hour: row<number>({
    group: 'clients',
    kind: integer(0, 1_000_000),
    default: 200,
    text: 'New errors that clients can create per hour, in all processes together; further ones share one error. Known errors are counted as usual.',
  }),
  client_max_stored_bytes_per_day: row<number>({
    group: 'clients',
    kind: integer(0, 1_000_000_000_000),
    default: 100_000_000,
    text: 'Estimated bytes of client occurrences stored per day (UTC), in all processes together; further ones are counted without details.',
  }),
  client_max_severity: row<(typeof SEVERITIES)[number]>({
    group: 'clients',
    kind: severity,
    default: 'high',
    text: 'Highest severity of a client error, whatever the client, the built-in rules or custom_severity_rules say.',
  }),
  enable_client_paging: row<boolean>({
    group: 'clients',
    kind: boolean,
    default: false,
    text: 'Lets client errors use the incident channel and bypass quiet hours.',
  }),

  filter_sensitive_data: row<boolean>({
    group: 'privacy',
    kind: boolean,
    default: true,
    text: 'Replaces values of sensitive keys by [FILTERED] before anything is stored.',
  }),
  sensitive_data_patterns: row<readonly (string | RegExp)[]>({
    group: 'privacy',
    kind: listOf(pattern),
    default: [],
    text: "The host's own sensitive keys, as whole words or RegExps for the key, beside the built-in ones.",
  }),

  enable_platform_comparison: row<boolean>({
    group: 'analytics',
    kind: boolean,
    default: true,
    text: 'Enables the platform comparison page and operation. Off: the page returns 404 and the operation an empty result.',
  }),
  enable_similar_errors: row<boolean>({
    group: 'analytics',
    kind: boolean,
    default: true,
    text: 'Shows similar errors. Off: the operation returns an empty list.',
  }),
  enable_baseline_alerts: row<boolean>({
    group: 'analytics',
    kind: boolean,
    default: false,
    text: 'Sends an alert when an error type comes more often than its baseline.',
  }),
  baseline_alert_threshold_std_devs: row<number>({
    group: 'analytics',
    kind: number(0.1, 100),
    default: 2,
    text: 'How many standard deviations above the baseline raise an alert.',
  }),
  baseline_alert_severities: row<readonly (typeof SEVERITIES)[number][]>({
    group: 'analytics',
    kind: listOf(severity),
    default: ['critical', 'high'],
    text: 'Severities for which baseline alerts are sent.',
  }),
  baseline_alert_cooldown_minutes: row<number>({
    group: 'analytics',
    kind: integer(0, 525_600),
    default: 120,
    text: 'Least time between two baseline alerts for the same error.',
  }),

  enable_chat_notifications: row<boolean>({
    group: 'notifications',
    kind: boolean,
    default: false,
    text: 'Sends messages to chat_webhook_url.',
  }),
  chat_webhook_url: secretRow<string | null>({
    group: 'notifications',
    kind: orNull(httpUrl),
    default: null,
    text: 'Address of the chat webhook (JSON with text).',
  }),
  community_chat_webhook_url: secretRow<string | null>({
    group: 'notifications',
    kind: orNull(httpUrl),
    default: null,
    text: 'Address of the community chat webhook (JSON with content); setting it turns the channel on.',
  }),
  webhook_url: secretRow<string | null>({
    group: 'notifications',
    kind: orNull(httpUrl),
    default: null,
    text: 'Address of a program of your own that receives every message as JSON; setting it turns the channel on.',
  }),
  webhook_secret: secretRow<string | null>({
    group: 'notifications',
    kind: orNull(text),
    default: null,
    text: 'Key with which messages to webhook_url are signed (HMAC-SHA256 of time and body), so that the receiver can tell them from forged ones.',
  }),
  enable_email_notifications: row<boolean>({
    group: 'notifications',
    kind: boolean,
    default: false,
    text: 'Sends messages by e-mail.',
  }),
  notification_email_recipients: row<readonly string[]>({
    group: 'notifications',
    kind: listOf(text),
    default: [],
    text: 'Who receives the e-mails.',
  }),
  notification_email_from: row<string | null>({
    group: 'notifications',
    kind: orNull(text),
    default: null,
    text: 'Sender of the e-mails. Left out: the default of the mail transport, else faultboard@ the name of the machine.',
  }),
  mail_transport: secretRow<MailTransport | null>({
    group: 'notifications',
    kind: orNull(mailTransport),
    default: null,
    // It holds the password of the mail server.
    text: "The host's own nodemailer transport, by which e-mails are sent.",
  }),
  smtp_url: secretRow<string | null>({
    group: 'notifications',
    kind: orNull(smtpUrl),
    default: null,
    text: 'Mail server by which e-mails are sent when there is no mail_transport, such as smtps://name:password@mail.example; needs the package nodemailer.',
  }),
  incident_integration_key: secretRow<string | null>({
    group: 'notifications',
    kind: orNull(text),
    default: null,
    text: 'Key of the incident-management service; setting it turns the channel on.',
  }),
  incident_events_url: row<string>({
    group: 'notifications',
    kind: httpUrl,
    default: 'https://events.pagerduty.com/v2/enqueue',
    text: 'Where events for the incident-management service are sent.',
  }),
  severity_thresholds: row<Readonly<Partial<Record<keyof typeof THRESHOLDS, (typeof SEVERITIES)[number]>>>>({
    group: 'notifications',
    kind: mapping<keyof typeof THRESHOLDS, (typeof SEVERITIES)[number]>(THRESHOLDS, severity),
    default: THRESHOLDS,
    text: 'Least severity an error must have for a channel; a channel that is left out keeps its default.',
  }),
  notification_cooldown_minutes: row<number>({
    group: 'notifications',
    kind: integer(0, 525_600),
    default: 5,
    text: 'Least time between a message about an error and one that it came back.',
  }),
  notification_max_per_hour: row<number>({
    group: 'notifications',
    kind: integer(1, 1_000_000),
    default: 60,
    text: 'Messages about errors per channel and hour, in all processes together; one summary at the end of the hour lists the rest. Digests, test messages and resolutions are not limited.',
  }),
  notification_threshold_alerts: row<readonly number[]>({
    group: 'notifications',
    kind: listOf(integer(2, 1_000_000_000)),
    default: [10, 50, 100, 500, 1000],
    text: 'Occurrence counts at which a message is sent again.',
  }),
  quiet_hours: row<string | null>({
    group: 'notifications',
    kind: orNull(hoursOfDay),
    default: null,
    text: 'Hours of the day in time_zone, such as 22:00-07:00, during which messages are held; at their end one message tells of all. The incident channel is never held.',
  }),
  quiet_hours_bypass_severity: row<(typeof SEVERITIES)[number] | null>({
    group: 'notifications',
    kind: orNull(severity),
    default: 'critical',
    text: 'Errors of this severity and graver are told during quiet hours too; null holds all.',
  }),
  digest_frequency: row<'never' | 'daily' | 'weekly'>({
    group: 'notifications',
    kind: choice(['never', 'daily', 'weekly']),
    default: 'never',
    text: 'How often notification_email_recipients get a mail of what is new, came back, came most and was resolved; the weekly one comes on Mondays.',
  }),
  digest_hour: row<number>({
    group: 'notifications',
    kind: integer(0, 23),
    default: 8,
    text: 'Hour of the day in time_zone from which on the digest is sent.',
  }),
  block_private_addresses: row<boolean>({
    group: 'notifications',
    kind: boolean,
    default: false,
    text: 'Refuses to send messages to private, loopback and link-local addresses; the address that was checked is the one that is connected to.',
  }),

  job_engine: row<'embedded' | 'bullmq' | 'pg-boss'>({
    group: 'jobs',
    kind: choice(['embedded', 'bullmq', 'pg-boss']),
    default: 'embedded',
    text: 'What carries the jobs (messages, schedules, with async_logging the errors): embedded needs nothing but the database, bullmq a Redis, pg-boss a PostgreSQL.',
  }),
  redis_url: secretRow<string | null>({
    group: 'jobs',
    kind: orNull(redisUrl),
    default: null,
    text: 'Redis for the engine bullmq, such as redis://127.0.0.1:6379; needs the package bullmq.',
  }),
  job_database: secretRow<string | null>({
    group: 'jobs',
    kind: orNull(postgresUrl),
    default: null,
    text: 'PostgreSQL for the engine pg-boss. Left out: database, when that is a PostgreSQL. Needs the package pg-boss.',
  }),
  run_jobs: row<boolean>({
    group: 'jobs',
    kind: boolean,
    default: true,
    text: 'Whether this process works on jobs; false leaves them to others, such as `faultboard work`.',
  }),

  enable_local_variables: row<boolean>({
    group: 'diagnostics',
    kind: boolean,
    default: false,
    text: "Records what the variables of the host's own functions were where an error was thrown.",
  }),
  local_variable_mode: row<'always' | 'adaptive'>({
    group: 'diagnostics',
    kind: choice(['always', 'adaptive']),
    default: 'adaptive',
    text: 'adaptive: reads variables from the second occurrence of an error on, and costs nothing in between. always: reads them at every throw. A stack overflow can then abort the process: see docs/diagnostics.md.',
  }),
  local_variable_max_per_second: row<number>({
    group: 'diagnostics',
    kind: integer(1, 1000),
    default: 10,
    text: 'Thrown errors a second whose variables are read.',
  }),
  local_variable_max_pause_ms_per_second: row<number>({
    group: 'diagnostics',
    kind: integer(1, 1000),
    default: 20,
    text: 'Milliseconds of each second that reading variables may take; what takes longer is made up for by a pause.',
  }),
  local_variable_max_count: row<number>({
    group: 'diagnostics',
    kind: integer(1, 100),
    default: 15,
    text: 'Variables of one frame that are kept.',
  }),
  local_variable_max_depth: row<number>({
    group: 'diagnostics',
    kind: integer(1, 10),
    default: 3,
    text: 'Levels of an object that are kept.',
  }),
  local_variable_max_string_length: row<number>({
    group: 'diagnostics',
    kind: integer(10, 5000),
    default: 200,
    text: 'Characters of a text that are kept.',
  }),
  local_variable_max_array_items: row<number>({
    group: 'diagnostics',
    kind: integer(1, 100),
    default: 10,
    text: 'Items of a list that are kept.',
  }),
  local_variable_max_hash_items: row<number>({
    group: 'diagnostics',
    kind: integer(1, 100),
    default: 20,
    text: 'Keys of an object that are kept.',
  }),
  local_variable_filter_patterns: row<readonly (string | RegExp)[]>({
    group: 'diagnostics',
    kind: listOf(pattern),
    default: [],
    text: 'Names of variables, and of keys inside them, that are filtered beside those of sensitive_data_patterns.',
  }),
  enable_instance_variables: row<boolean>({
    group: 'diagnostics',
    kind: boolean,
    default: false,
    text: 'Records with the local variables what `this` held in the frame that threw.',
  }),
  instance_variable_max_count: row<number>({
    group: 'diagnostics',
    kind: integer(1, 100),
    default: 20,
    text: 'Properties of `this` that are kept.',
  }),
  detect_swallowed_exceptions: row<boolean>({
    group: 'diagnostics',
    kind: boolean,
    default: false,
    text: 'Counts exceptions that are caught and never reported, per place in the code; set it by its variable and start with --import faultboard/register.',
  }),
  swallowed_exception_threshold: row<number>({
    group: 'diagnostics',
    kind: number(0, 1),
    default: 0.95,
    text: 'A place is shown when the share of rescued exceptions exceeds this.',
  }),
  swallowed_exception_flush_interval: row<number>({
    group: 'diagnostics',
    kind: integer(1, 86_400),
    default: 60,
    text: 'Seconds between two flushes of the counts.',
  }),
  swallowed_exception_max_cache_size: row<number>({
    group: 'diagnostics',
    kind: integer(10, 100_000),
    default: 1000,
    text: 'Places that are counted in memory between two flushes; of more, the least recently met are given up.',
  }),
  swallowed_exception_ignore_classes: row<readonly string[]>({
    group: 'diagnostics',
    kind: listOf(text),
    default: [],
    text: 'Types of exceptions that may be swallowed, beside AbortError and broken or timed-out connections.',
  }),
  enable_diagnostic_dump: row<boolean>({
    group: 'diagnostics',
    kind: boolean,
    default: false,
    text: 'Allows snapshots of the process to be taken and kept.',
  }),
  enable_heap_snapshots: row<boolean>({
    group: 'diagnostics',
    kind: boolean,
    default: false,
    text: 'Allows heap snapshots with a dump. One holds every secret of the process in clear, and the process stands still while it is written: one to two seconds for 30 MB.',
  }),
  diagnostic_dump_path: row<string | null>({
    group: 'diagnostics',
    kind: orNull(path),
    default: null,
    text: 'Folder for the CPU profiles and heap snapshots of dumps, relative to project_root. Left out: beside the spool folder.',
  }),
  enable_system_health: row<boolean>({
    group: 'diagnostics',
    kind: boolean,
    default: false,
    text: 'Records with each error how the process was doing: memory, event loop, garbage collection, handles, load.',
  }),
  enable_process_health: row<boolean>({
    group: 'diagnostics',
    kind: boolean,
    default: false,
    text: 'Writes one row a minute of how each process is doing, kept for 7 days and shown as charts.',
  }),
  enable_request_guard_tracking: row<boolean>({
    group: 'diagnostics',
    kind: boolean,
    default: false,
    text: 'Counts throttle, blocklist and track events of rate limiters; needs enable_breadcrumbs.',
  }),
  enable_deprecation_tracking: row<boolean>({
    group: 'diagnostics',
    kind: boolean,
    default: false,
    text: 'Counts deprecation warnings by code, message and place; needs enable_breadcrumbs.',
  }),
  detect_n_plus_one_queries: row<boolean>({
    group: 'diagnostics',
    kind: boolean,
    default: false,
    text: 'Finds statements that one request or job runs again and again; needs enable_breadcrumbs and a watched driver.',
  }),
  n_plus_one_threshold: row<number>({
    group: 'diagnostics',
    kind: integer(2, 1000),
    default: 5,
    text: 'Times that one request or job runs the same statement before it counts as an N+1 query.',
  }),
  source_code_context_lines: row<number>({
    group: 'diagnostics',
    kind: integer(0, 50),
    default: 5,
    text: 'Lines of source shown before and after the line of a frame, from files inside project_root.',
  }),
  source_code_cache_ttl: row<number>({
    group: 'diagnostics',
    kind: integer(0, 604_800),
    default: 3600,
    text: 'Seconds for which source lines are remembered; 0 reads them anew every time.',
  }),
  enable_git_blame: row<boolean>({
    group: 'diagnostics',
    kind: boolean,
    default: false,
    text: 'Shows who last changed the line of a frame and when, and the source as of the commit of the occurrence; needs git and the repository around project_root.',
  }),
  git_repository_url: row<string | null>({
    group: 'diagnostics',
    kind: orNull(httpUrl),
    default: null,
    text: 'Where the repository is looked at, such as https://github.com/shop/api, for links from frames; or a template with {commit}, {path} and {line}. Left out: the remote origin, with enable_git_blame.',
  }),
}

export type OptionName = keyof typeof OPTIONS
type ValueOf<R> = R extends Row<infer T> ? T : never

type Values = { readonly [Name in OptionName]: ValueOf<(typeof OPTIONS)[Name]> }

/** Null only as a setting: the host's own project tells them, or the tracker refuses to start. */
type AlwaysKnown = 'application_name' | 'project_root' | 'dashboard_username' | 'dashboard_password'

/** The configuration of a started tracker: every option has its value. */
export type Options = {
  readonly [Name in OptionName]: Name extends AlwaysKnown ? NonNullable<Values[Name]> : Values[Name]
}

/** The options that are on or off. */
export type SwitchName = { [Name in OptionName]: Options[Name] extends boolean ? Name : never }[OptionName]

/** The options whose value must not leave the process: passwords, keys, and addresses that contain them. */
export type SecretOptionName = {
  [Name in OptionName]: (typeof OPTIONS)[Name] extends { readonly secret: true } ? Name : never
}[OptionName]

/** What a host may set; rules may also come as a Map. */
export type Settings = {
  [Name in Exclude<OptionName, 'custom_severity_rules'>]?: Values[Name] | undefined
} & {
  custom_severity_rules?:
    | ReadonlyMap<RegExp | string, (typeof SEVERITIES)[number]>
    | readonly (readonly [RegExp | string, (typeof SEVERITIES)[number]])[]
    | undefined
}

export const OPTION_NAMES = Object.keys(OPTIONS) as OptionName[]

export function optionRow(name: OptionName): Row<unknown> {
  return OPTIONS[name] as Row<unknown>
}

/** The environment variable of an option, or null where its value cannot be written as text. */
export function environmentVariable(name: OptionName): string | null {
  return optionRow(name).kind.fromText ? `FAULTBOARD_${name.toUpperCase()}` : null
}
