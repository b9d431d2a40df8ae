import { createHash } from 'node:crypto'
import type { LogErrorInput } from '../../index.js'
import { DAY } from '../../model/time.js'
import type { SampleApplication } from './applications.js'
import type { PlannedOccurrence } from './history.js'
import type { SampleCause } from './kind.js'
import { codePosition } from './larder.js'
import { ADDRESSES, FIRST_USER, USER_AGENTS, USER_COUNT } from './people.js'
import { SeededRandom } from './seeded-random.js'

/** Install path of every sample application in its container. */
export const APP_ROOT = '/app'

/** Input for LogError. Release dates are relative to `now`. */
export function sampleError(
  { application, kind, occurred_at, seed, environment }: PlannedOccurrence,
  now: number,
): LogErrorInput {
  const random = new SeededRandom(seed)
  const platform = kind.platform ?? application.platform
  const app_version = versionAt(application, now - occurred_at, random)
  const hasRequest = kind.route !== undefined || kind.platform !== undefined
  return {
    exception: createError(kind, random),
    occurred_at,
    environment,
    platform,
    app_version,
    git_sha: createHash('sha1').update(`${application.name} ${app_version}`).digest('hex'),
    severity: kind.severity,
    unhandled: kind.unhandled,
    user_id: random.chance(hasRequest ? 0.85 : 0.3) ? userId(random) : undefined,
    context: fill(kind.context, random),
    tags: fill(kind.tags, random),
    ...(hasRequest ? requestDetails(application, kind, platform, random, app_version) : {}),
  }
}

function requestDetails(
  { base_url }: SampleApplication,
  { route = 'POST /crash-reports', params }: PlannedOccurrence['kind'],
  platform: keyof typeof USER_AGENTS,
  random: SeededRandom,
  version: string,
): Partial<LogErrorInput> {
  const path = fill(route.slice(route.indexOf(' ') + 1), random)
  const filled = fill(params, random)
  const query = new URLSearchParams(filled?.query as Record<string, string> | undefined)
  return {
    request_url: `${base_url}${path}${query.size > 0 ? `?${query}` : ''}`,
    request_params: filled,
    ip_address: `${random.pick(ADDRESSES)}${random.integer(1, 254)}`,
    user_agent: random.pick<string>(USER_AGENTS[platform]).replace('{version}', version),
    request: { method: route.slice(0, route.indexOf(' ')), duration_ms: random.integer(3, 900) },
  }
}

function createError({ type, message, at, code, cause }: SampleCause, random: SeededRandom): Error {
  const error = new Error(fill(message, random), cause ? { cause: createError(cause, random) } : {})
  // Only frames: the library reads type and message from the error itself.
  return Object.assign(error, { name: type, stack: at.map(frameLine).join('\n') }, code ? { code } : {})
}

/** A frame in the source of the shop, with code instead of a position. */
const LARDER_FRAME = /^(.+) (\S+\.js) `(.+)`$/

/** Formats `total src/cart.ts:1:2` like V8. Mobile frames keep their native format. */
function frameLine(frame: string): string {
  const [, functionName, path = '', code = ''] = LARDER_FRAME.exec(frame) ?? []
  if (functionName) return `    at ${functionName} (${APP_ROOT}/${path}:${codePosition(path, code)})`
  if (frame.endsWith(')')) return `    at ${frame}`
  const [, name, file = ''] = /^(?:(.*) )?(\S+)$/.exec(frame) ?? []
  const location = /^(src|node_modules)\//.test(file) ? `${APP_ROOT}/${file}` : file
  return name ? `    at ${name} (${location})` : `    at ${location}`
}

/** The version at that time, or the version before it for users who update late. */
function versionAt({ releases, lateUpdateShare }: SampleApplication, ageMs: number, random: SeededRandom): string {
  const released = releases.filter(({ days_ago }) => days_ago * DAY >= ageMs)
  const isLate = released.length > 1 && random.chance(lateUpdateShare)
  return (released.at(isLate ? -2 : -1) ?? releases[0])?.version ?? ''
}

/** Values of the placeholders in sample strings. */
const PLACEHOLDERS: Record<string, (random: SeededRandom) => string> = {
  order: (random) => String(random.integer(100_000, 999_999)),
  number: (random) => String(random.integer(2, 900)),
  milliseconds: (random) => String(random.integer(5000, 31_000)),
  amount: (random) => `${random.integer(4, 240)}.${random.integer(10, 99)}`,
  sku: (random) => `${random.pick(['TEA', 'OIL', 'JAM', 'RYE', 'NUT'])}-${random.integer(1000, 9999)}`,
  uuid: (random) => [8, 4, 4, 4, 12].map((digits) => random.hex(digits)).join('-'),
  hex: (random) => random.hex(16),
  email: (random) =>
    `${random.pick(['mira', 'tom', 'lena', 'yusuf', 'kofi', 'ines'])}.${random.integer(1, 99)}@example.com`,
  user: (random) => userId(random),
  address: (random) => `${random.pick(ADDRESSES)}${random.integer(1, 254)}`,
  port: (random) => String(random.integer(40_000, 60_000)),
  word: (random) => random.pick(['olive oil', 'rye bread', 'jam', 'green tea', 'almonds', 'honey', 'pasta']),
  city: (random) => random.pick(['Lisbon', 'Leeds', 'Lyon', 'Linz', 'Lublin']),
  password: (random) => `summer-${random.integer(1000, 9999)}`,
}

function userId(random: SeededRandom): string {
  // Squaring makes some users much more active than others.
  return `usr_${FIRST_USER + Math.floor(random.number() ** 2 * USER_COUNT)}`
}

/** Fills the placeholders in a string, or in every string of a data structure. */
function fill<T>(data: T, random: SeededRandom): T {
  if (typeof data === 'string') {
    return data.replace(/\{(\w+)\}/g, (whole, name: string) => PLACEHOLDERS[name]?.(random) ?? whole) as T
  }
  if (Array.isArray(data)) return data.map((item) => fill(item, random)) as T
  if (typeof data !== 'object' || data === null) return data
  return Object.fromEntries(Object.entries(data).map(([key, value]) => [key, fill(value, random)])) as T
}
