import { isProxyRange } from '../model/requests/client-address.js'
import { isSeverity, SEVERITIES, type Severity, type SeverityRule } from '../model/severity.js'

/**
 * What a value of an option may be. `check` gives the value in its final form or throws a sentence; `fromText` reads it
 * from an environment variable or the command line, and is absent where a value cannot be written as text.
 */
export interface Kind<T> {
  readonly words: string
  check(value: unknown): T
  fromText?(text: string): unknown
}

class Unfit extends Error {}

const unfit = (sentence: string): never => {
  throw new Unfit(sentence)
}

/** The value, or the sentence that says why not. */
export function checkKind<T>(kind: Kind<T>, value: unknown): { value: T } | { problem: string } {
  try {
    return { value: kind.check(value) }
  } catch (error) {
    // A kind may run code of the host (a getter on a Map, a toString): whatever it throws is a problem of that option.
    return { problem: error instanceof Unfit ? error.message : 'could not be read' }
  }
}

export const boolean: Kind<boolean> = {
  words: 'true or false',
  check: (value) => (typeof value === 'boolean' ? value : unfit('must be true or false')),
  fromText: (text) =>
    ({ true: true, '1': true, on: true, false: false, '0': false, off: false })[text.toLowerCase()] ?? text,
}

export const integer = (min: number, max: number): Kind<number> => {
  const words = `whole number, ${min} to ${max}`
  return {
    words,
    check: (value) =>
      Number.isInteger(value) && Number(value) >= min && Number(value) <= max
        ? Number(value)
        : unfit(`must be a whole number from ${min} to ${max}`),
    // `Number` alone would accept 1e1 and 0x10.
    fromText: (text) => (/^\s*-?\d+\s*$/.test(text) ? Number(text) : text),
  }
}

export const number = (min: number, max: number): Kind<number> => ({
  words: `number, ${min} to ${max}`,
  check: (value) =>
    typeof value === 'number' && value >= min && value <= max ? value : unfit(`must be a number from ${min} to ${max}`),
  fromText: numberFromText,
})

export const text: Kind<string> = {
  words: 'text',
  check: (value) =>
    typeof value === 'string' && value.trim() !== '' ? value : unfit('must be text that is not empty'),
  fromText: (text) => text,
}

/** Basic credentials are `name:password`: a colon in the name would end it. */
export const userName: Kind<string> = {
  ...text,
  words: 'text without a colon',
  check: (value) =>
    typeof value === 'string' && value.includes(':') ? unfit('must not hold a colon') : text.check(value),
}

export const path: Kind<string> = { ...text, words: 'path' }

export const httpUrl: Kind<string> = {
  words: 'http(s) address',
  check(value) {
    const url = typeof value === 'string' && URL.canParse(value) ? new URL(value) : null
    return url && /^https?:$/.test(url.protocol) ? String(value) : unfit('must be an http:// or https:// address')
  },
  fromText: (text) => text,
}

/** An address in which the id of a trace is to be put. */
export const traceUrl: Kind<string> = {
  words: 'http(s) address with {trace_id}',
  check: (value) =>
    httpUrl.check(value).includes('{trace_id}') ? String(value) : unfit('must be an address that holds {trace_id}'),
  fromText: (text) => text,
}

const urlOf = (example: string, schemes: readonly string[]): Kind<string> => ({
  words: `address such as ${example}`,
  check: (value) =>
    typeof value === 'string' && URL.canParse(value) && schemes.includes(new URL(value).protocol)
      ? value
      : unfit(`must be an address such as ${example}`),
  fromText: (text) => text,
})

export const smtpUrl = urlOf('smtps://name:password@mail.example', ['smtp:', 'smtps:'])
export const redisUrl = urlOf('redis://127.0.0.1:6379', ['redis:', 'rediss:'])
export const postgresUrl = urlOf('postgres://name:password@host/database', ['postgres:', 'postgresql:'])

/** Hours of the day such as 22:00-07:00; they may pass midnight. */
export const hoursOfDay: Kind<string> = {
  words: 'hours such as 22:00-07:00',
  check(value) {
    const [from, to, ...rest] = typeof value === 'string' ? value.split('-') : []
    const isTime = (text: string | undefined) => text !== undefined && /^([01]\d|2[0-3]):[0-5]\d$/.test(text)
    return isTime(from) && isTime(to) && from !== to && rest.length === 0
      ? String(value)
      : unfit('must be two times of the day such as 22:00-07:00')
  },
  fromText: (text) => text,
}

/** What a nodemailer transport is known by. */
export interface MailTransport {
  sendMail(mail: Record<string, unknown>): Promise<unknown>
}

export const mailTransport: Kind<MailTransport> = {
  words: 'nodemailer transport',
  check: (value) =>
    typeof value === 'object' && value !== null && typeof Reflect.get(value, 'sendMail') === 'function'
      ? (value as MailTransport)
      : unfit('must be a nodemailer transport, as nodemailer.createTransport() gives it'),
}

export const choice = <const Words extends readonly string[]>(words: Words): Kind<Words[number]> => ({
  words: words.join(', '),
  check: (value) =>
    words.includes(value as string) ? (value as Words[number]) : unfit(`must be one of ${words.join(', ')}`),
  fromText: (text) => text,
})

export const listOf = <T>(item: Kind<T>): Kind<readonly T[]> => ({
  words: `list of: ${item.words}`,
  check: (value) =>
    Array.isArray(value) ? Object.freeze(value.map((one) => item.check(one))) : unfit('must be a list'),
  fromText: (text) =>
    text
      .split(',')
      .map((one) => one.trim())
      .filter((one) => one !== '')
      .map((one) => (item.fromText ? item.fromText(one) : one)),
})

export const orNull = <T>({ words, check, fromText }: Kind<T>): Kind<T | null> => ({
  words: `${words}, or null`,
  check: (value) => (value === null ? null : check(value)),
  ...(fromText ? { fromText: (text: string) => (text === 'null' ? null : fromText(text)) } : {}),
})

// biome-ignore lint/suspicious/noExplicitAny: a callback's own signature is given where the option is declared.
export const callback = <F extends (...args: any[]) => unknown>(): Kind<F> => ({
  words: 'function',
  check: (value) => (typeof value === 'function' ? (value as F) : unfit('must be a function')),
})

/** A name of an error type, a pattern for it, or its class. */
export type ErrorMatcher = string | RegExp | (abstract new (...args: never[]) => unknown)

export const errorMatcher: Kind<ErrorMatcher> = {
  words: 'error type name, RegExp or class',
  check: (value) =>
    typeof value === 'string' || value instanceof RegExp || isClass(value)
      ? (value as ErrorMatcher)
      : unfit('must hold names of error types, RegExps or classes'),
  fromText: (text) => text,
}

/** `instanceof` throws for a function without a prototype, such as an arrow function. */
function isClass(value: unknown): boolean {
  return typeof value === 'function' && typeof value.prototype === 'object' && value.prototype !== null
}

export const pattern: Kind<string | RegExp> = {
  words: 'text or RegExp',
  check: (value) =>
    typeof value === 'string' || value instanceof RegExp ? value : unfit('must hold words or RegExps'),
  fromText: (text) => text,
}

const proxyRange: Kind<string> = {
  words: 'IP address, range such as 10.0.0.0/8, loopback or private',
  check: (value) =>
    typeof value === 'string' && isProxyRange(value)
      ? value
      : unfit(
          `must hold IP addresses, ranges such as 10.0.0.0/8, loopback or private; "${String(value).slice(0, 50)}" is none of them`,
        ),
}

const listOfProxyRanges = listOf(proxyRange)

/** Nobody can set a variable to an empty list: there `none` says it. */
export const proxyRanges: Kind<readonly string[]> = {
  ...listOfProxyRanges,
  fromText: (text) => (text.trim() === 'none' ? [] : listOfProxyRanges.fromText?.(text)),
}

export const timeZone: Kind<string> = {
  words: 'IANA time zone',
  check(value) {
    // Nearly everybody's, and the first formatter of a process costs it 20 ms and 8 MB.
    if (value === 'UTC') return value
    try {
      new Intl.DateTimeFormat('en', { timeZone: value as string })
      return typeof value === 'string' ? value : unfit('must be text')
    } catch {
      return unfit('must be a time zone such as UTC or Europe/Berlin')
    }
  },
  fromText: (text) => text,
}

export const mountPath: Kind<string> = {
  words: 'path that starts with /',
  check: (value) =>
    typeof value === 'string' && /^(\/[\w.~-]+)+$/.test(value)
      ? value
      : unfit('must be a path such as /error_dashboard, with no slash at its end'),
  fromText: (text) => text,
}

const DATABASE_SCHEMES = ['sqlite:', 'postgres:', 'postgresql:', 'mysql:', 'mariadb:']

/** An address, or a live pool or handle of the host; which of those it is, the store finds out when it opens it. */
export const database: Kind<string | object> = {
  words: "sqlite:FILE, postgres://…, mysql://…, or the host's pool or handle",
  check(value) {
    if (isPoolOrHandle(value)) return value
    if (typeof value === 'string' && DATABASE_SCHEMES.some((scheme) => value.startsWith(scheme))) return value
    return unfit('must be sqlite:FILE, postgres://…, mysql://…, or a pool or handle of the host')
  },
  fromText: (text) => text,
}

/** What a pg Pool, a mysql2 pool or an SQLite handle is known by. */
function isPoolOrHandle(value: unknown): value is object {
  if ((typeof value !== 'object' && typeof value !== 'function') || value === null) return false
  return ['connect', 'getConnection', 'prepare'].some((method) => typeof Reflect.get(value, method) === 'function')
}

/**
 * An ordered mapping from RegExp to severity. A string key never matches: it is kept out of the rules, and the warning
 * that `configure` prints says so.
 */
export const severityRules: Kind<readonly SeverityRule[]> = {
  words: 'Map or list of pairs: RegExp to critical, high, medium or low',
  check(value) {
    const pairs = value instanceof Map ? [...value.entries()] : Array.isArray(value) ? value : null
    if (!pairs) return unfit('must be a Map or a list of [RegExp, severity] pairs')
    for (const pair of pairs) {
      if (!Array.isArray(pair) || pair.length !== 2) return unfit('must be a Map or a list of [RegExp, severity] pairs')
      if (!isSeverity(pair[1])) return unfit(`must map to one of ${SEVERITIES.join(', ')}`)
      if (!(pair[0] instanceof RegExp) && typeof pair[0] !== 'string') return unfit('must have RegExps as keys')
    }
    return Object.freeze(pairs.filter((pair): pair is [RegExp, Severity] => pair[0] instanceof RegExp))
  },
}

/** A mapping whose keys are known words; keys that are left out keep the default. */
export const mapping = <Key extends string, T>(
  defaults: Readonly<Record<Key, T>>,
  value: Kind<T>,
): Kind<Readonly<Partial<Record<Key, T>>>> => {
  const keys = Object.keys(defaults) as Key[]
  return {
    words: `mapping of ${keys.join(', ')} to: ${value.words}`,
    check(given) {
      if (typeof given === 'string')
        return unfit(`must be written as ${keys.map((key) => `${key}=…`).join(',')}, each key at most once`)
      if (typeof given !== 'object' || given === null || Array.isArray(given))
        return unfit(`must be a mapping of ${keys.join(', ')}`)
      const result: Record<Key, T> = { ...defaults }
      for (const [key, one] of Object.entries(given)) {
        if (!keys.includes(key as Key)) return unfit(`has the unknown key ${key}; it takes ${keys.join(', ')}`)
        result[key as Key] = value.check(one)
      }
      return Object.freeze(result)
    },
    fromText(text) {
      const pairs = text.split(',').map((pair) => pair.split('=').map((side) => side.trim()))
      const isUnclear =
        pairs.some(({ length }) => length !== 2) || new Set(pairs.map(([key]) => key)).size < pairs.length
      if (isUnclear) return text
      return Object.fromEntries(pairs.map(([key = '', one = '']) => [key, value.fromText ? value.fromText(one) : one]))
    },
  }
}

function numberFromText(text: string): unknown {
  return text.trim() === '' ? text : Number(text)
}
