import type { AnyCase } from '../model/input/spelling.js'
import type { Person } from '../model/people/identity.js'
import { SEVERITIES, type Severity } from '../model/severity/severity.js'
import {
  type ApiTokenSetting,
  apiTokens,
  boolean,
  callback,
  choice,
  type DashboardUser,
  dashboardUsers,
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
  pageUrl,
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

/** Context that is passed to host callbacks together with the thrown value. */
export interface LogContext {
  error_type: string
  message: string
  platform: string | null
  user_id: string | null
  request_url: string | null
  app_version: string | null
  severity: Severity | null
}

/** Identifies the sender of a dashboard request. */
// biome-ignore lint/suspicious/noExplicitAny: each framework has its own request.
export type Authenticate = (request: any) => SignInResult | Promise<SignInResult>

type SignInResult = Person | null | undefined | false

export interface Row<T> {
  readonly kind: Kind<T>
  readonly default: T
  readonly group: Group
  readonly text: string
  /** Masks the value wherever the configuration is displayed. */
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

const DEFAULT_THRESHOLDS = {
  chat: 'low',
  community_chat: 'low',
  email: 'low',
  incident: 'critical',
  webhook: 'low',
} as const
/** Default limits per client address and for all addresses together, per process. */
export const DEFAULT_MAX_CLIENT_REQUESTS = { per_address: 300, total: 6000 }
export const DEFAULT_MAX_CLIENT_BYTES = { per_address: 5_000_000, total: 20_000_000 }
type AddressLimits = Readonly<Partial<typeof DEFAULT_MAX_CLIENT_REQUESTS>>
const severity = choice(SEVERITIES)
export const row = <T>(definition: Row<T>): Row<T> => definition
const secretRow = <T>(definition: Row<T>): Row<T> & { readonly secret: true } => ({ ...definition, secret: true })

/**
 * Table of all options. Types, validation, environment variables, the settings page and docs/configuration.md derive
 * from it.
 */
export const OPTIONS = {
  enabled: row<boolean>({
    group: 'identity',
    kind: boolean,
    default: true,
    text: 'Set it to false to turn everything off, for example in tests: no files, hooks or routes. Nothing is recorded, and queries return empty results.',
  }),
  application_name: row<string | null>({
    group: 'identity',
    kind: orNull(text),
    default: null,
    text: "Name of the application that the errors belong to. Default: APP_NAME, then the name in the host's package.json.",
  }),
  environment: row<string | null>({
    group: 'identity',
    kind: orNull(text),
    default: null,
    text: 'Name of the environment, at most 64 characters. Each environment has its own error record, with its own count and status. Default: NODE_ENV, or `production`.',
  }),
  app_version: row<string | null>({
    group: 'identity',
    kind: orNull(text),
    default: null,
    text: "Version of the running application. Default: APP_VERSION or RELEASE_VERSION, then the release number of the platform (HEROKU_RELEASE_VERSION, K_REVISION …), then the version in the host's package.json.",
  }),
  git_sha: row<string | null>({
    group: 'identity',
    kind: orNull(text),
    default: null,
    text: 'Commit the application was built from. Default: GIT_SHA, GIT_COMMIT, SOURCE_VERSION or similar, then the variables of common platforms and CI services, then the HEAD of the repository that contains project_root, read once at start.',
  }),
  project_root: row<string | null>({
    group: 'identity',
    kind: orNull(path),
    default: null,
    text: 'Root folder of the host application. Stack paths are shown and grouped relative to it. Default: the nearest folder with a package.json, searching upward from the working directory.',
  }),
  time_zone: row<string>({
    group: 'identity',
    kind: timeZone,
    default: 'UTC',
    text: 'Time zone for displayed times and for day and hour boundaries.',
  }),

  database: secretRow<string | object>({
    group: 'storage',
    kind: database,
    default: 'sqlite:faultboard.sqlite3',
    text: "Database for errors: sqlite:FILE, postgres://…, mysql://…, or the host's own pg Pool, mysql2 pool, node:sqlite or better-sqlite3 handle. On Node.js before 22.16, sqlite:FILE needs the package @photostructure/sqlite. Use a different URL to keep errors in a separate database.",
  }),
  spool_path: row<string | null>({
    group: 'storage',
    kind: orNull(path),
    default: null,
    text: 'Folder for errors that are not yet written to the database. Default: next to the SQLite file, or a private folder in the temporary directory.',
  }),
  spool_max_bytes: row<number>({
    group: 'storage',
    kind: integer(0, 10_000_000_000),
    default: 67_108_864,
    text: 'Maximum size of the spool folder in bytes. Errors beyond it are dropped and counted.',
  }),
  retention_days: row<number | null>({
    group: 'storage',
    kind: orNull(integer(1, 36_500)),
    default: 90,
    text: 'Errors not seen for this many days are deleted, once a day automatically and by `faultboard cleanup`; null keeps all.',
  }),
  audit_retention_days: row<number>({
    group: 'storage',
    kind: integer(1, 36_500),
    default: 365,
    text: 'Entries of the Audit page are deleted after this many days, and people this many days after their last sign-in.',
  }),
  max_occurrences_per_error: row<number>({
    group: 'storage',
    kind: integer(1, 1_000_000),
    default: 1000,
    text: 'Number of most recent occurrences of an error that are stored with full details. Counts and charts still include all occurrences.',
  }),

  dashboard_username: row<string | null>({
    group: 'dashboard',
    kind: orNull(userName),
    default: null,
    text: 'Username of the shared admin account of the dashboard. There is no default. The dashboard cannot be mounted without this account, dashboard_users or authenticate.',
  }),
  dashboard_password: secretRow<string | null>({
    group: 'dashboard',
    kind: orNull(text),
    default: null,
    text: 'Password of the shared admin account of the dashboard. There is no default.',
  }),
  dashboard_users: secretRow<readonly DashboardUser[]>({
    group: 'dashboard',
    kind: dashboardUsers,
    default: [],
    text: 'Accounts of people, each with a name, a password_hash from `faultboard hash-password`, a role (viewer, responder or admin) and optionally an email. As JSON in the environment.',
  }),
  api_tokens: secretRow<readonly ApiTokenSetting[]>({
    group: 'dashboard',
    kind: apiTokens,
    default: [],
    text: 'API tokens in addition to those in the database, each with a name, a token_hash (sha256: and the SHA-256 of the token in hexadecimal digits), a role (viewer, responder or admin) and optionally expires_at. As JSON in the environment.',
  }),
  authenticate: row<Authenticate | null>({
    group: 'dashboard',
    kind: orNull(callback<Authenticate>()),
    default: null,
    text: "Identifies a person by the session or SSO of the host. Receives the request of the host's framework and returns { name, role, email? }, or null for a visitor who is not signed in. Called for every request of the dashboard. A callback that throws or takes longer than 2 seconds counts as null.",
  }),
  sign_in_url: row<string | null>({
    group: 'dashboard',
    kind: orNull(pageUrl),
    default: null,
    text: 'Sign-in page of the host, such as /login?next={return_to}. With authenticate, browsers without credentials are redirected there. {return_to} is replaced by the path of the requested page.',
  }),
  sign_out_url: row<string | null>({
    group: 'dashboard',
    kind: orNull(pageUrl),
    default: null,
    text: 'Sign-out page of the host. People identified by authenticate see a link to it.',
  }),
  mount_path: row<string>({
    group: 'dashboard',
    kind: mountPath,
    default: '/error_dashboard',
    text: 'Path where the dashboard is mounted.',
  }),
  dashboard_base_url: row<string | null>({
    group: 'dashboard',
    kind: orNull(httpUrl),
    default: null,
    text: 'Public URL of the host, such as https://ops.example/shop. Notifications link to it. If a proxy strips its path, dashboard links add the path again; a trusted proxy can also set it with X-Forwarded-Prefix.',
  }),
  trace_url_template: row<string | null>({
    group: 'dashboard',
    kind: orNull(traceUrl),
    default: null,
    text: 'URL template of your tracing backend, such as https://traces.example/trace/{trace_id}, for links from errors that occurred in an OpenTelemetry span. It can also contain {span_id}.',
  }),
  enable_rate_limiting: row<boolean>({
    group: 'dashboard',
    kind: boolean,
    default: false,
    text: 'Limits dashboard requests per client address. Failed sign-ins are always limited.',
  }),
  rate_limit_per_minute: row<number>({
    group: 'dashboard',
    kind: integer(1, 1_000_000),
    default: 100,
    text: 'Dashboard requests per minute and client address when rate limiting is enabled.',
  }),

  enable_middleware: row<boolean>({
    group: 'capture',
    kind: boolean,
    default: true,
    text: 'Records errors thrown by handlers of the web framework. Errors with a status from 400 to 499 are intended for the client: they are counted as client_error, not recorded.',
  }),
  enable_error_subscriber: row<boolean>({
    group: 'capture',
    kind: boolean,
    default: true,
    text: 'Records errors reported anywhere in the process: Tracker.report, uncaught exceptions, unhandled rejections.',
  }),
  crash_capture_path: row<string | null>({
    group: 'capture',
    kind: orNull(path),
    default: null,
    text: 'Folder for crash files, relative to project_root; they are imported at the next start. Setting it enables crash capture.',
  }),
  detect_unclean_shutdown: row<boolean>({
    group: 'capture',
    kind: boolean,
    default: false,
    text: 'With crash_capture_path: records UncleanShutdown when a process ends without a clean exit (SIGKILL, SIGSEGV, abort, power loss). A SIGTERM or SIGINT that the host does not handle looks the same.',
  }),
  async_logging: row<boolean>({
    group: 'capture',
    kind: boolean,
    default: false,
    text: 'false: LogError resolves when the row is committed. true: it resolves when the error is accepted, and the row is written in the background.',
  }),
  sampling_rate: row<number>({
    group: 'capture',
    kind: number(0, 1),
    default: 1,
    text: 'Share of errors to record, from 0 to 1. Critical errors are always recorded.',
  }),
  ignored_exceptions: row<readonly (string | RegExp | (abstract new (...args: never[]) => unknown))[]>({
    group: 'capture',
    kind: listOf(errorMatcher),
    default: [],
    text: 'Errors that are never recorded: type names, RegExps for type names, or classes.',
  }),
  before_log_callback: row<((error: unknown, context: LogContext) => boolean | undefined) | null>({
    group: 'capture',
    kind: orNull(callback()),
    default: null,
    text: 'Receives the exception and a context. Return false to skip the error.',
  }),
  custom_fingerprint: row<((error: unknown, context: LogContext) => string | null | undefined) | null>({
    group: 'capture',
    kind: orNull(callback()),
    default: null,
    text: 'Receives the exception and a context. Return a string to group by it instead of by type, message and code location.',
  }),
  custom_severity_rules: row<readonly (readonly [RegExp, (typeof SEVERITIES)[number]])[]>({
    group: 'capture',
    kind: severityRules,
    default: [],
    text: 'Ordered mapping from a RegExp for the error type to a severity. The first match wins; string keys never match.',
  }),
  max_backtrace_lines: row<number>({
    group: 'capture',
    kind: integer(1, 1000),
    default: 50,
    text: 'Number of backtrace lines to store.',
  }),
  trusted_proxies: row<readonly string[]>({
    group: 'capture',
    kind: proxyRanges,
    default: [],
    text: 'Proxies whose X-Forwarded-For and Forwarded headers are trusted to contain the client address. `private` covers private and link-local ranges. An empty list (`none` in the environment) trusts no headers.',
  }),
  enable_breadcrumbs: row<boolean>({
    group: 'capture',
    kind: boolean,
    default: false,
    text: 'Records a bounded trail of what a request did before it failed.',
  }),
  breadcrumb_buffer_size: row<number>({
    group: 'capture',
    kind: integer(1, 1000),
    default: 40,
    text: 'Number of most recent breadcrumbs to keep per request.',
  }),
  breadcrumb_categories: row<readonly string[] | null>({
    group: 'capture',
    kind: orNull(listOf(text)),
    default: null,
    text: 'Breadcrumb categories to keep (http, sql, redis, console, log, deprecation, or your own); null keeps all.',
  }),
  request_scope: row<'auto' | 'always' | 'never'>({
    group: 'capture',
    kind: choice(['auto', 'always', 'never']),
    default: 'auto',
    text: 'Gives each request its own scope (AsyncLocalStorage). Tracker.report, LogError, log entries and process-level errors use it to find the request, user, tags and breadcrumbs. auto: enabled on Node.js 24 and later, and when enable_breadcrumbs or crash_capture_path is set. Otherwise enabled on first use of Tracker.report, LogError, setContext, setTags, setUser, withScope or a subscriber, because a scope costs a few microseconds per request on Node.js 20 and 22.',
  }),
  user_callback: row<((request: unknown) => unknown) | null>({
    group: 'capture',
    kind: orNull(callback()),
    default: null,
    text: "Receives the framework's request and returns the user's id, or an object with an id. Must be synchronous; promises are ignored. Default: the usual properties (request.user, request.auth, request.session, ctx.state.user).",
  }),
  enable_source_maps: row<boolean>({
    group: 'capture',
    kind: boolean,
    default: true,
    text: 'Maps stacks of compiled and bundled code to the original source, using source maps inside project_root. Nothing is fetched over the network.',
  }),
  source_map_max_bytes: row<number>({
    group: 'capture',
    kind: integer(10_000, 100_000_000),
    default: 20_000_000,
    text: 'Maximum size in bytes of a source map, and of a script, that faultboard sourcemaps upload stores. The sources stored with a map can use the same amount again.',
  }),
  source_map_max_releases: row<number>({
    group: 'capture',
    kind: integer(1, 10_000),
    default: 50,
    text: 'Number of releases whose source maps are kept, most recent uploads first. An upload deletes the maps of older releases.',
  }),
  max_full_occurrences_per_minute: row<number>({
    group: 'capture',
    kind: integer(1, 1_000_000),
    default: 1000,
    text: 'Storm guard: above this many occurrences of one error per minute and process, one in ten (then one in a hundred, ...) is stored in full. All are counted.',
  }),
  max_event_loop_lag_ms: row<number | null>({
    group: 'capture',
    kind: orNull(integer(1, 60_000)),
    default: 200,
    text: 'Lag guard: while the event loop lags by more than this, and for one second afterward, errors are recorded without parameters, context and breadcrumbs; null disables the guard.',
  }),
  max_groups_per_place: row<number>({
    group: 'capture',
    kind: integer(1, 1_000_000),
    default: 200,
    text: 'Flood guard: after one code location has created this many groups per hour and process, its further new messages and types share one group.',
  }),

  client_max_requests_per_minute: row<AddressLimits>({
    group: 'clients',
    kind: mapping(DEFAULT_MAX_CLIENT_REQUESTS, integer(1, 1_000_000_000)),
    default: DEFAULT_MAX_CLIENT_REQUESTS,
    text: 'Requests per minute and process to the reporting endpoint and the Sentry intake, per address and in total. Each additional error in a request counts as another request. Beyond the limit: 429.',
  }),
  client_max_bytes_per_minute: row<AddressLimits>({
    group: 'clients',
    kind: mapping(DEFAULT_MAX_CLIENT_BYTES, integer(1, 1_000_000_000_000)),
    default: DEFAULT_MAX_CLIENT_BYTES,
    text: 'Decompressed body bytes per minute and process, per address and in total. Requests over the limit are rejected with 429.',
  }),
  client_max_new_errors_per_hour: row<number>({
    group: 'clients',
    kind: integer(0, 1_000_000),
    default: 200,
    text: 'New errors that clients can create per hour, across all processes. Beyond it, new errors share one error. Occurrences of known errors are counted as usual.',
  }),
  client_max_stored_bytes_per_day: row<number>({
    group: 'clients',
    kind: integer(0, 1_000_000_000_000),
    default: 100_000_000,
    text: 'Estimated bytes of client occurrences stored per day (UTC), across all processes. Further occurrences are counted without details.',
  }),
  client_max_severity: row<(typeof SEVERITIES)[number]>({
    group: 'clients',
    kind: severity,
    default: 'high',
    text: 'Highest severity of a client error, regardless of the client, the built-in rules and custom_severity_rules.',
  }),
  enable_client_paging: row<boolean>({
    group: 'clients',
    kind: boolean,
    default: false,
    text: 'Allows client errors to use the incident channel and bypass quiet hours.',
  }),

  filter_sensitive_data: row<boolean>({
    group: 'privacy',
    kind: boolean,
    default: true,
    text: 'Replaces the values of sensitive keys with [FILTERED] before anything is stored.',
  }),
  sensitive_data_patterns: row<readonly (string | RegExp)[]>({
    group: 'privacy',
    kind: listOf(pattern),
    default: [],
    text: 'Additional sensitive keys of the host, as whole words or RegExps.',
  }),

  enable_platform_comparison: row<boolean>({
    group: 'analytics',
    kind: boolean,
    default: true,
    text: 'Enables the platform comparison page and operation. When off, the page returns 404 and the operation returns an empty result.',
  }),
  enable_similar_errors: row<boolean>({
    group: 'analytics',
    kind: boolean,
    default: true,
    text: 'Shows similar errors. When off, the operation returns an empty list.',
  }),
  enable_baseline_alerts: row<boolean>({
    group: 'analytics',
    kind: boolean,
    default: false,
    text: 'Sends an alert when an error type occurs more often than its baseline.',
  }),
  baseline_alert_threshold_std_devs: row<number>({
    group: 'analytics',
    kind: number(0.1, 100),
    default: 2,
    text: 'Number of standard deviations above the baseline that triggers an alert.',
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
    text: 'Minimum time between two baseline alerts for the same error.',
  }),

  enable_chat_notifications: row<boolean>({
    group: 'notifications',
    kind: boolean,
    default: false,
    text: 'Sends notifications to chat_webhook_url.',
  }),
  chat_webhook_url: secretRow<string | null>({
    group: 'notifications',
    kind: orNull(httpUrl),
    default: null,
    text: 'URL of the chat webhook (JSON with text).',
  }),
  community_chat_webhook_url: secretRow<string | null>({
    group: 'notifications',
    kind: orNull(httpUrl),
    default: null,
    text: 'URL of the community chat webhook (JSON with content). Setting it enables the channel.',
  }),
  webhook_url: secretRow<string | null>({
    group: 'notifications',
    kind: orNull(httpUrl),
    default: null,
    text: 'URL of your own service that receives every notification as JSON. Setting it enables the channel.',
  }),
  webhook_secret: secretRow<string | null>({
    group: 'notifications',
    kind: orNull(text),
    default: null,
    text: 'Key that signs requests to webhook_url (HMAC-SHA256 of timestamp and body), so that the receiver can reject forged requests.',
  }),
  enable_email_notifications: row<boolean>({
    group: 'notifications',
    kind: boolean,
    default: false,
    text: 'Sends notifications by email.',
  }),
  notification_email_recipients: row<readonly string[]>({
    group: 'notifications',
    kind: listOf(text),
    default: [],
    text: 'Recipients of the emails. An assignment is sent to the assignee instead.',
  }),
  notification_email_from: row<string | null>({
    group: 'notifications',
    kind: orNull(text),
    default: null,
    text: 'Sender of the emails. Default: the default of the mail transport, else faultboard@ followed by the host name of the machine.',
  }),
  mail_transport: secretRow<MailTransport | null>({
    group: 'notifications',
    kind: orNull(mailTransport),
    default: null,
    // Secret, because a transport contains the password of the mail server.
    text: "The host's own nodemailer transport for sending emails.",
  }),
  smtp_url: secretRow<string | null>({
    group: 'notifications',
    kind: orNull(smtpUrl),
    default: null,
    text: 'Mail server for sending emails if mail_transport is not set, such as smtps://name:password@mail.example; requires the nodemailer package.',
  }),
  incident_integration_key: secretRow<string | null>({
    group: 'notifications',
    kind: orNull(text),
    default: null,
    text: 'Key of the incident management service. Setting it enables the channel.',
  }),
  incident_events_url: row<string>({
    group: 'notifications',
    kind: httpUrl,
    default: 'https://events.pagerduty.com/v2/enqueue',
    text: 'Endpoint of the incident management service.',
  }),
  severity_thresholds: row<Readonly<Partial<Record<keyof typeof DEFAULT_THRESHOLDS, (typeof SEVERITIES)[number]>>>>({
    group: 'notifications',
    kind: mapping<keyof typeof DEFAULT_THRESHOLDS, (typeof SEVERITIES)[number]>(DEFAULT_THRESHOLDS, severity),
    default: DEFAULT_THRESHOLDS,
    text: 'Minimum severity per channel. Omitted channels keep their defaults.',
  }),
  notification_cooldown_minutes: row<number>({
    group: 'notifications',
    kind: integer(0, 525_600),
    default: 5,
    text: 'Minimum time between a notification about an error and a notification about its regression.',
  }),
  notification_environments: row<readonly string[] | null>({
    group: 'notifications',
    kind: orNull(listOf(text)),
    default: null,
    text: 'Environments whose errors and baselines cause notifications, such as production. Names are case-sensitive. null selects all environments. Digests, test notifications and resolutions are always sent.',
  }),
  notification_max_per_hour: row<number>({
    group: 'notifications',
    kind: integer(1, 1_000_000),
    default: 60,
    text: 'Error notifications per channel and hour, across all processes. Client errors use at most a quarter (at least 1). One summary at the end of the hour lists the rest. Digests, test notifications and resolutions are not limited.',
  }),
  notification_threshold_alerts: row<readonly number[]>({
    group: 'notifications',
    kind: listOf(integer(2, 1_000_000_000)),
    default: [10, 50, 100, 500, 1000],
    text: 'Occurrence counts that trigger another notification.',
  }),
  quiet_hours: row<string | null>({
    group: 'notifications',
    kind: orNull(hoursOfDay),
    default: null,
    text: 'Hours of the day in time_zone, such as 22:00-07:00, during which notifications are held. One summary is sent when they end. Notifications to the incident channel are never held.',
  }),
  quiet_hours_bypass_severity: row<(typeof SEVERITIES)[number] | null>({
    group: 'notifications',
    kind: orNull(severity),
    default: 'critical',
    text: 'Errors of this severity or higher are sent during quiet hours too; null holds all errors.',
  }),
  digest_frequency: row<'never' | 'daily' | 'weekly'>({
    group: 'notifications',
    kind: choice(['never', 'daily', 'weekly']),
    default: 'never',
    text: 'How often notification_email_recipients receive a digest of new, regressed, most frequent and resolved errors. The weekly digest is sent on Mondays.',
  }),
  digest_hour: row<number>({
    group: 'notifications',
    kind: integer(0, 23),
    default: 8,
    text: 'Hour of the day in time_zone at which the digest is sent.',
  }),
  block_private_addresses: row<boolean>({
    group: 'notifications',
    kind: boolean,
    default: false,
    text: 'Refuses to send notifications to private, loopback and link-local addresses. The connection uses the address that was checked.',
  }),

  job_engine: row<'embedded' | 'bullmq' | 'pg-boss'>({
    group: 'jobs',
    kind: choice(['embedded', 'bullmq', 'pg-boss']),
    default: 'embedded',
    text: 'Job engine for scheduled jobs and, with async_logging, errors. embedded uses the database, bullmq requires Redis, pg-boss requires PostgreSQL.',
  }),
  redis_url: secretRow<string | null>({
    group: 'jobs',
    kind: orNull(redisUrl),
    default: null,
    text: 'Redis URL for the bullmq engine, such as redis://127.0.0.1:6379; requires the bullmq package.',
  }),
  job_database: secretRow<string | null>({
    group: 'jobs',
    kind: orNull(postgresUrl),
    default: null,
    text: 'PostgreSQL URL for the pg-boss engine. Default: database, if it is PostgreSQL. Requires the pg-boss package.',
  }),
  run_jobs: row<boolean>({
    group: 'jobs',
    kind: boolean,
    default: true,
    text: 'Runs jobs and sends notifications in this process. Set it to false to leave both to other processes, such as `faultboard work`.',
  }),

  source_code_context_lines: row<number>({
    group: 'diagnostics',
    kind: integer(0, 50),
    default: 5,
    text: 'Source lines to show before and after the line of a frame, from files inside project_root.',
  }),
}

/** Options by name. Diagnostics define their own. */
// biome-ignore lint/suspicious/noExplicitAny: every option has its own type.
export type OptionTable = Readonly<Record<string, Row<any>>>

export type OptionName = keyof typeof OPTIONS
export type ValueOf<R> = R extends Row<infer T> ? T : never
export type ValuesOf<Table extends OptionTable> = { readonly [Name in keyof Table]: ValueOf<Table[Name]> }

/** Reads the options of a diagnostic. The configuration of a tracker contains the options of all its diagnostics. */
export function readOptions<Table extends OptionTable>(config: object, _table: Table): ValuesOf<Table> {
  return config as ValuesOf<Table>
}

/** Accepts mappings with keys in both spellings. */
export type SettingOf<T> = T extends Readonly<Partial<Record<string, string | number>>> ? AnyCase<T> : T

type Values = { readonly [Name in OptionName]: ValueOf<(typeof OPTIONS)[Name]> }

/** Options that are null only in settings. They are resolved from the host's project and environment variables. */
type ResolvedName = 'application_name' | 'environment' | 'project_root'

/** Resolved configuration of a started tracker: every option has a value. */
export type Options = {
  readonly [Name in OptionName]: Name extends ResolvedName ? NonNullable<Values[Name]> : Values[Name]
}

/** Names of the boolean options. */
export type SwitchName = { [Name in OptionName]: Options[Name] extends boolean ? Name : never }[OptionName]

/** Options whose values must not leave the process: passwords, keys, and URLs that contain them. */
export type SecretOptionName = {
  [Name in OptionName]: (typeof OPTIONS)[Name] extends { readonly secret: true } ? Name : never
}[OptionName]

/** Settings in the canonical spelling. Severity rules can also be a Map. */
export type Settings = {
  [Name in Exclude<OptionName, 'custom_severity_rules'>]?: SettingOf<Values[Name]> | undefined
} & {
  custom_severity_rules?:
    | ReadonlyMap<RegExp | string, (typeof SEVERITIES)[number]>
    | readonly (readonly [RegExp | string, (typeof SEVERITIES)[number]])[]
    | undefined
}

/** Environment variable of an option, or null if its value has no text form. */
export function environmentVariable(name: string, row: Row<unknown>): string | null {
  return row.kind.fromText ? `FAULTBOARD_${name.toUpperCase()}` : null
}
