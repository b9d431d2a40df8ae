import { acceptedNames, toCanonicalNames } from '../model/input/spelling.js'
import { isTokenHash } from '../model/people/api-token.js'
import { type Person, type Role, readPerson } from '../model/people/identity.js'
import { parsePasswordHash } from '../model/people/password-hash.js'
import { isProxyRange } from '../model/requests/client-address.js'
import { isSeverity, SEVERITIES, type Severity, type SeverityRule } from '../model/severity/severity.js'
import { didYouMean } from '../model/text.js'

/**
 * Type of an option value. `check` returns the normalized value or throws an error. `fromText` parses an environment
 * variable or a CLI argument; it is absent for values that have no text form.
 */
export interface Kind<T> {
  readonly description: string
  check(value: unknown): T
  fromText?(text: string): unknown
}

class InvalidValueError extends Error {}

const reject = (message: string): never => {
  throw new InvalidValueError(message)
}

/** Returns the checked value, or a message that describes the problem. */
export function checkKind<T>(kind: Kind<T>, value: unknown): { value: T } | { problem: string } {
  try {
    return { value: kind.check(value) }
  } catch (error) {
    // A check can run host code (a getter, a toString). Reports any exception as a problem of the option.
    return { problem: error instanceof InvalidValueError ? error.message : 'cannot be read' }
  }
}

export const boolean: Kind<boolean> = {
  description: 'true or false',
  check: (value) => (typeof value === 'boolean' ? value : reject('must be true or false')),
  fromText: (text) =>
    ({ true: true, '1': true, on: true, false: false, '0': false, off: false })[text.toLowerCase()] ?? text,
}

export const integer = (min: number, max: number): Kind<number> => {
  const description = `whole number, ${min} to ${max}`
  return {
    description,
    check: (value) =>
      Number.isInteger(value) && Number(value) >= min && Number(value) <= max
        ? Number(value)
        : reject(`must be a whole number from ${min} to ${max}`),
    // `Number` also accepts 1e1 and 0x10.
    fromText: (text) => (/^\s*-?\d+\s*$/.test(text) ? Number(text) : text),
  }
}

export const number = (min: number, max: number): Kind<number> => ({
  description: `number, ${min} to ${max}`,
  check: (value) =>
    typeof value === 'number' && value >= min && value <= max
      ? value
      : reject(`must be a number from ${min} to ${max}`),
  fromText: numberFromText,
})

export const text: Kind<string> = {
  description: 'string',
  check: (value) => (typeof value === 'string' && value.trim() !== '' ? value : reject('must be a non-empty string')),
  fromText: (text) => text,
}

/** Rejects colons, because Basic credentials are `name:password`. */
export const userName: Kind<string> = {
  ...text,
  description: 'string without a colon',
  check: (value) =>
    typeof value === 'string' && value.includes(':') ? reject('must not contain a colon') : text.check(value),
}

export const path: Kind<string> = { ...text, description: 'path' }

export const httpUrl: Kind<string> = {
  description: 'http(s) URL',
  check(value) {
    const url = typeof value === 'string' && URL.canParse(value) ? new URL(value) : null
    return url && /^https?:$/.test(url.protocol) ? String(value) : reject('must be an http:// or https:// URL')
  },
  fromText: (text) => text,
}

/** URL template with a placeholder for the trace id. */
export const traceUrl: Kind<string> = {
  description: 'http(s) URL with {trace_id}',
  check: (value) =>
    httpUrl.check(value).includes('{trace_id}') ? String(value) : reject('must be a URL that contains {trace_id}'),
  fromText: (text) => text,
}

const urlKind = (example: string, schemes: readonly string[]): Kind<string> => ({
  description: `URL such as ${example}`,
  check: (value) =>
    typeof value === 'string' && URL.canParse(value) && schemes.includes(new URL(value).protocol)
      ? value
      : reject(`must be a URL such as ${example}`),
  fromText: (text) => text,
})

export const smtpUrl = urlKind('smtps://name:password@mail.example', ['smtp:', 'smtps:'])
export const redisUrl = urlKind('redis://127.0.0.1:6379', ['redis:', 'rediss:'])
export const postgresUrl = urlKind('postgres://name:password@host/database', ['postgres:', 'postgresql:'])

/** Hours of the day, such as 22:00-07:00. The range can span midnight. */
export const hoursOfDay: Kind<string> = {
  description: 'hours such as 22:00-07:00',
  check(value) {
    const [from, to, ...rest] = typeof value === 'string' ? value.split('-') : []
    const isTime = (text: string | undefined) => text !== undefined && /^([01]\d|2[0-3]):[0-5]\d$/.test(text)
    return isTime(from) && isTime(to) && from !== to && rest.length === 0
      ? String(value)
      : reject('must be a range of hours such as 22:00-07:00')
  },
  fromText: (text) => text,
}

/** Page of the host or of a sign-in service. Excludes `//host`, which is another site. */
export const pageUrl: Kind<string> = {
  description: 'path or http(s) URL',
  check: (value) =>
    typeof value === 'string' && /^(\/(?![/\\])|https?:\/\/[^/])[\x21-\x7e]*$/.test(value)
      ? value
      : reject('must be a path such as /login, or an http:// or https:// URL'),
  fromText: (text) => text,
}

/** Account of one person. */
export interface DashboardUser extends Person {
  /** Output of `faultboard hash-password`. */
  password_hash: string
}

/** List of objects with unique names. Problems contain the position and name of the entry, but never its hash. */
function namedEntries<Entry extends { name: string }>(
  description: string,
  fields: readonly string[],
  checkEntry: (fields: object, position: string) => Entry,
): Kind<readonly Entry[]> {
  const names = acceptedNames(fields)
  const checkFields = (entry: unknown, index: number): Entry => {
    const position = `has an invalid entry ${index + 1}`
    if (typeof entry !== 'object' || entry === null) return reject(`${position}: it must be an object`)
    const { fields: values, conflicts } = toCanonicalNames(entry, names)
    if (conflicts[0]) return reject(`${position}: ${conflicts[0]}`)
    const unknown = Object.keys(values).find((name) => !names.has(name))
    if (unknown !== undefined)
      return reject(`${position}: ${unknown.slice(0, 50)} is not a field${didYouMean(unknown, fields)}`)
    return Object.freeze(checkEntry(values, position))
  }
  return {
    description,
    check(value) {
      if (!Array.isArray(value)) return reject(`must be a ${description}`)
      const entries = value.map(checkFields)
      const entryNames = entries.map(({ name }) => name.normalize('NFC'))
      const repeated = entryNames.find((name, index) => entryNames.indexOf(name) < index)
      return repeated === undefined ? Object.freeze(entries) : reject(`has two entries with the name "${repeated}"`)
    },
    // The check rejects text that is not JSON.
    fromText(text) {
      try {
        return JSON.parse(text)
      } catch {
        return text
      }
    },
  }
}

export const dashboardUsers = namedEntries<DashboardUser>(
  'list of { name, password_hash, role, email? }',
  ['name', 'password_hash', 'role', 'email'],
  (fields, position) => {
    const result = readPerson(fields)
    if ('problem' in result) return reject(`${position}: ${result.problem}`)
    const { person } = result
    if (person.name.includes(':')) return reject(`${position}: name must not contain a colon`)
    const { password_hash } = fields as { password_hash?: unknown }
    if (typeof password_hash !== 'string' || !parsePasswordHash(password_hash))
      return reject(
        `${position}: password_hash of "${person.name}" is not a valid hash: create it with  faultboard hash-password`,
      )
    return { ...person, password_hash }
  },
)

/** API token of the configuration. */
export interface ApiTokenSetting {
  name: string
  /** `sha256:` and the SHA-256 of the token in hexadecimal digits. */
  token_hash: string
  role: Role
  /** Day or time in ISO 8601. Default: the token does not expire. */
  expires_at?: string | null | undefined
}

const apiTokenEntries = namedEntries<ApiTokenSetting>(
  'list of { name, token_hash, role, expires_at? }',
  ['name', 'token_hash', 'role', 'expires_at'],
  (fields, position) => {
    const result = readPerson(fields)
    if ('problem' in result) return reject(`${position}: ${result.problem}`)
    const { name, role } = result.person
    const { token_hash, expires_at = null } = fields as { token_hash?: unknown; expires_at?: unknown }
    if (!isTokenHash(token_hash))
      return reject(
        `${position}: token_hash of "${name}" must be sha256: and 64 hexadecimal digits, the SHA-256 of the token`,
      )
    if (expires_at !== null && !isIsoTime(expires_at))
      return reject(`${position}: expires_at of "${name}" must be a time such as 2027-01-31 or 2027-01-31T12:00:00Z`)
    return { name: name.normalize('NFC'), token_hash, role, expires_at }
  },
)

export const apiTokens: Kind<readonly ApiTokenSetting[]> = {
  ...apiTokenEntries,
  check(value) {
    const tokens = apiTokenEntries.check(value)
    for (const { name, token_hash } of tokens) {
      const first = tokens.find((token) => token.token_hash === token_hash)
      if (first && first.name !== name)
        return reject(
          `has the same token_hash in "${first.name}" and "${name}": the role would be ambiguous. Create a token for each entry, or remove one`,
        )
    }
    return tokens
  },
}

/** Validates the day too, because `Date.parse` accepts February 31. */
function isIsoTime(value: unknown): value is string {
  const [, day = ''] = typeof value === 'string' ? (/^(\d{4}-\d\d-\d\d)(?:T|$)/.exec(value) ?? []) : []
  const midnight = Date.parse(day)
  if (!Number.isFinite(midnight) || !Number.isFinite(Date.parse(String(value)))) return false
  return new Date(midnight).toISOString().startsWith(day)
}

/** Subset of a nodemailer transport. */
export interface MailTransport {
  sendMail(mail: Record<string, unknown>): Promise<unknown>
}

export const mailTransport: Kind<MailTransport> = {
  description: 'nodemailer transport',
  check: (value) =>
    typeof value === 'object' && value !== null && typeof Reflect.get(value, 'sendMail') === 'function'
      ? (value as MailTransport)
      : reject('must be a nodemailer transport, as returned by nodemailer.createTransport()'),
}

export const choice = <const Values extends readonly string[]>(values: Values): Kind<Values[number]> => ({
  description: values.join(', '),
  check: (value) =>
    values.includes(value as string) ? (value as Values[number]) : reject(`must be one of ${values.join(', ')}`),
  fromText: (text) => text,
})

export const listOf = <T>(item: Kind<T>): Kind<readonly T[]> => ({
  description: `list of: ${item.description}`,
  check: (value) =>
    Array.isArray(value) ? Object.freeze(value.map((entry) => item.check(entry))) : reject('must be a list'),
  fromText: (text) =>
    text
      .split(',')
      .map((entry) => entry.trim())
      .filter((entry) => entry !== '')
      .map((entry) => (item.fromText ? item.fromText(entry) : entry)),
})

export const orNull = <T>({ description, check, fromText }: Kind<T>): Kind<T | null> => ({
  description: `${description}, or null`,
  check: (value) => (value === null ? null : check(value)),
  ...(fromText ? { fromText: (text: string) => (text === 'null' ? null : fromText(text)) } : {}),
})

// biome-ignore lint/suspicious/noExplicitAny: the declaration of each option contains the signature of its callback.
export const callback = <F extends (...args: any[]) => unknown>(): Kind<F> => ({
  description: 'function',
  check: (value) => (typeof value === 'function' ? (value as F) : reject('must be a function')),
})

/** Name of an error type, a pattern for it, or its class. */
export type ErrorMatcher = string | RegExp | (abstract new (...args: never[]) => unknown)

export const errorMatcher: Kind<ErrorMatcher> = {
  description: 'error type name, RegExp or class',
  check: (value) =>
    typeof value === 'string' || value instanceof RegExp || isClass(value)
      ? (value as ErrorMatcher)
      : reject('must contain error type names, RegExps or classes'),
  fromText: (text) => text,
}

/** Detects a class. For a function without a prototype, such as an arrow function, `instanceof` would throw. */
function isClass(value: unknown): boolean {
  return typeof value === 'function' && typeof value.prototype === 'object' && value.prototype !== null
}

export const pattern: Kind<string | RegExp> = {
  description: 'string or RegExp',
  check: (value) =>
    typeof value === 'string' || value instanceof RegExp ? value : reject('must contain words or RegExps'),
  fromText: (text) => text,
}

const proxyRange: Kind<string> = {
  description: 'IP address, range such as 10.0.0.0/8, loopback or private',
  check: (value) =>
    typeof value === 'string' && isProxyRange(value)
      ? value
      : reject(
          `must contain IP addresses, ranges such as 10.0.0.0/8, loopback or private; "${String(value).slice(0, 50)}" is none of these`,
        ),
}

const listOfProxyRanges = listOf(proxyRange)

/** An environment variable cannot hold an empty list, so `none` represents it. */
export const proxyRanges: Kind<readonly string[]> = {
  ...listOfProxyRanges,
  fromText: (text) => (text.trim() === 'none' ? [] : listOfProxyRanges.fromText?.(text)),
}

export const timeZone: Kind<string> = {
  description: 'IANA time zone',
  check(value) {
    // Avoids creating the first Intl formatter of the process, which costs 20 ms and 8 MB.
    if (value === 'UTC') return value
    try {
      new Intl.DateTimeFormat('en', { timeZone: value as string })
      return typeof value === 'string' ? value : reject('must be a string')
    } catch {
      return reject('must be a time zone such as UTC or Europe/Berlin')
    }
  },
  fromText: (text) => text,
}

export const mountPath: Kind<string> = {
  description: 'path that starts with /',
  check: (value) =>
    typeof value === 'string' && /^(\/[\w.~-]+)+$/.test(value)
      ? value
      : reject('must be a path such as /error_dashboard, without a trailing slash'),
  fromText: (text) => text,
}

const DATABASE_SCHEMES = ['sqlite:', 'postgres:', 'postgresql:', 'mysql:', 'mariadb:']

/**
 * Database URL, or a pool or handle of the host. The store distinguishes pools and handles when it opens the database.
 */
export const database: Kind<string | object> = {
  description: "sqlite:FILE, postgres://…, mysql://…, or the host's pool or handle",
  check(value) {
    const advice = libraryAdvice(value)
    if (advice) return reject(advice)
    if (isPoolOrHandle(value)) return value
    if (typeof value === 'string' && DATABASE_SCHEMES.some((scheme) => value.startsWith(scheme))) return value
    return reject("must be sqlite:FILE, postgres://…, mysql://…, or the host's pool or handle")
  },
  fromText: (text) => text,
}

/** Query builders and ORMs by a property of their instances, with the expression to pass instead of the instance. */
const LIBRARIES: Record<string, { property: string; instead: string }> = {
  Drizzle: { property: '$client', instead: 'db.$client' },
  Kysely: {
    property: 'selectFrom',
    // The instance hides its dialect.
    instead: 'pool, as in new PostgresDialect({ pool }), or database, as in new SqliteDialect({ database })',
  },
  Knex: {
    property: 'fromRaw',
    instead:
      'process.env.DATABASE_URL if set, otherwise new pg.Pool(knex.client.connectionSettings) or mysql.createPool(knex.client.connectionSettings)',
  },
  Prisma: { property: '$connect', instead: 'process.env.DATABASE_URL' },
  Sequelize: {
    property: 'connectionManager',
    instead:
      'process.env.DATABASE_URL if set, otherwise new pg.Pool({ host, port, user: username, password, database }) or mysql.createPool({ host, port, user: username, password, database }) with the values of sequelize.config',
  },
  TypeORM: {
    property: 'createQueryRunner',
    instead:
      'dataSource.driver.master (PostgreSQL), dataSource.driver.pool (MySQL) or dataSource.driver.databaseConnection (SQLite), after initialize()',
  },
}

function libraryAdvice(value: unknown): string | null {
  if (!isObjectOrFunction(value)) return null
  const found = Object.entries(LIBRARIES).find(([, { property }]) => Reflect.has(value, property))
  return found ? `must not be a ${found[0]} instance: pass ${found[1].instead}` : null
}

function isObjectOrFunction(value: unknown): value is object {
  return (typeof value === 'object' || typeof value === 'function') && value !== null
}

/** Detects a pg pool, a mysql2 pool or a SQLite handle by its methods. */
function isPoolOrHandle(value: unknown): value is object {
  if (!isObjectOrFunction(value)) return false
  return ['connect', 'getConnection', 'prepare'].some((method) => typeof Reflect.get(value, method) === 'function')
}

/** Ordered mapping from RegExp to severity. Drops string keys, which never match, and prints a warning. */
export const severityRules: Kind<readonly SeverityRule[]> = {
  description: 'Map or list of pairs: RegExp to critical, high, medium or low',
  check(value) {
    const pairs = value instanceof Map ? [...value.entries()] : Array.isArray(value) ? value : null
    if (!pairs) return reject('must be a Map or a list of [RegExp, severity] pairs')
    for (const pair of pairs) {
      if (!Array.isArray(pair) || pair.length !== 2)
        return reject('must be a Map or a list of [RegExp, severity] pairs')
      if (!isSeverity(pair[1])) return reject(`must map to one of ${SEVERITIES.join(', ')}`)
      if (!(pair[0] instanceof RegExp) && typeof pair[0] !== 'string') return reject('must have RegExps as keys')
    }
    return Object.freeze(pairs.filter((pair): pair is [RegExp, Severity] => pair[0] instanceof RegExp))
  },
}

/** Mapping with a fixed set of keys. Omitted keys keep their defaults. */
export const mapping = <Key extends string, T>(
  defaults: Readonly<Record<Key, T>>,
  value: Kind<T>,
): Kind<Readonly<Partial<Record<Key, T>>>> => {
  const keys = Object.keys(defaults) as Key[]
  const names = acceptedNames(keys)
  return {
    description: `mapping of ${keys.join(', ')} to: ${value.description}`,
    check(settings) {
      if (typeof settings === 'string')
        return reject(`must be written as ${keys.map((key) => `${key}=…`).join(',')}, each key at most once`)
      if (typeof settings !== 'object' || settings === null || Array.isArray(settings))
        return reject(`must be a mapping of ${keys.join(', ')}`)
      const { fields, conflicts } = toCanonicalNames(settings, names)
      if (conflicts[0]) return reject(`has two values for one key: ${conflicts[0]}`)
      const result: Record<Key, T> = { ...defaults }
      for (const [key, entry] of Object.entries(fields)) {
        if (!keys.includes(key as Key)) return reject(`has the unknown key ${key}; allowed keys are ${keys.join(', ')}`)
        result[key as Key] = value.check(entry)
      }
      return Object.freeze(result)
    },
    fromText(text) {
      const pairs = text.split(',').map((pair) => pair.split('=').map((part) => part.trim()))
      const isMalformed =
        pairs.some(({ length }) => length !== 2) || new Set(pairs.map(([key]) => key)).size < pairs.length
      if (isMalformed) return text
      return Object.fromEntries(
        pairs.map(([key = '', entry = '']) => [key, value.fromText ? value.fromText(entry) : entry]),
      )
    },
  }
}

function numberFromText(text: string): unknown {
  return text.trim() === '' ? text : Number(text)
}
