import { createHash } from 'node:crypto'
import type { LogErrorInput } from '../../index.js'
import { DAY } from '../../model/time.js'
import type { SampleApplication } from './applications.js'
import { Draw } from './draw.js'
import type { Moment } from './history.js'
import type { Reason } from './kind.js'
import { ADDRESSES, FIRST_USER, USER_AGENTS, USER_COUNT } from './people.js'

/** Install path of every sample application in its container. */
export const APP_ROOT = '/app'

/** Input for LogError. Release dates are relative to `now`. */
export function sampleError({ application, kind, occurred_at, seed }: Moment, now: number): LogErrorInput {
  const draw = new Draw(seed)
  const platform = kind.platform ?? application.platform
  const app_version = versionAt(application, now - occurred_at, draw)
  const remote = kind.route !== undefined || kind.platform !== undefined
  return {
    exception: thrown(kind, draw),
    occurred_at,
    platform,
    app_version,
    git_sha: createHash('sha1').update(`${application.name} ${app_version}`).digest('hex'),
    severity: kind.severity,
    unhandled: kind.unhandled,
    user_id: draw.chance(remote ? 0.85 : 0.3) ? userId(draw) : undefined,
    context: fill(kind.context, draw),
    ...(remote ? request(application, kind, platform, draw, app_version) : {}),
  }
}

function request(
  { base_url }: SampleApplication,
  { route = 'POST /crash-reports', params }: Moment['kind'],
  platform: keyof typeof USER_AGENTS,
  draw: Draw,
  version: string,
): Partial<LogErrorInput> {
  const path = fill(route.slice(route.indexOf(' ') + 1), draw)
  const filled = fill(params, draw)
  const query = new URLSearchParams(filled?.query as Record<string, string> | undefined)
  return {
    request_url: `${base_url}${path}${query.size > 0 ? `?${query}` : ''}`,
    request_params: filled,
    ip_address: `${draw.pick(ADDRESSES)}${draw.integer(1, 254)}`,
    user_agent: draw.pick<string>(USER_AGENTS[platform]).replace('{version}', version),
    request: { method: route.slice(0, route.indexOf(' ')), duration_ms: draw.integer(3, 900) },
  }
}

function thrown({ type, message, at, code, cause }: Reason, draw: Draw): Error {
  const error = new Error(fill(message, draw), cause ? { cause: thrown(cause, draw) } : {})
  // Only frames: the library reads type and message from the error itself.
  return Object.assign(error, { name: type, stack: at.map(frameLine).join('\n') }, code ? { code } : {})
}

/** Formats `total src/cart.ts:1:2` like V8. Frames of a phone stay unchanged. */
function frameLine(frame: string): string {
  if (frame.endsWith(')')) return `    at ${frame}`
  const [, name, file = ''] = /^(?:(.*) )?(\S+)$/.exec(frame) ?? []
  const place = /^(src|node_modules)\//.test(file) ? `${APP_ROOT}/${file}` : file
  return name ? `    at ${name} (${place})` : `    at ${place}`
}

/** The version at that time, or the version before it for users who update late. */
function versionAt({ releases, lateUpdateShare }: SampleApplication, ago: number, draw: Draw): string {
  const released = releases.filter(({ days_ago }) => days_ago * DAY >= ago)
  const isLate = released.length > 1 && draw.chance(lateUpdateShare)
  return (released.at(isLate ? -2 : -1) ?? releases[0])?.version ?? ''
}

/** Values of the placeholders in a sample text. */
const PLACEHOLDERS: Record<string, (draw: Draw) => string> = {
  order: (draw) => String(draw.integer(100_000, 999_999)),
  number: (draw) => String(draw.integer(2, 900)),
  milliseconds: (draw) => String(draw.integer(5000, 31_000)),
  amount: (draw) => `${draw.integer(4, 240)}.${draw.integer(10, 99)}`,
  sku: (draw) => `${draw.pick(['TEA', 'OIL', 'JAM', 'RYE', 'NUT'])}-${draw.integer(1000, 9999)}`,
  uuid: (draw) => [8, 4, 4, 4, 12].map((digits) => draw.hex(digits)).join('-'),
  hex: (draw) => draw.hex(16),
  email: (draw) => `${draw.pick(['mira', 'tom', 'lena', 'yusuf', 'kofi', 'ines'])}.${draw.integer(1, 99)}@example.com`,
  user: (draw) => userId(draw),
  address: (draw) => `${draw.pick(ADDRESSES)}${draw.integer(1, 254)}`,
  port: (draw) => String(draw.integer(40_000, 60_000)),
  word: (draw) => draw.pick(['olive oil', 'rye bread', 'jam', 'green tea', 'almonds', 'honey', 'pasta']),
  city: (draw) => draw.pick(['Lisbon', 'Leeds', 'Lyon', 'Linz', 'Lublin']),
  password: (draw) => `summer-${draw.integer(1000, 9999)}`,
}

function userId(draw: Draw): string {
  // Squaring makes some users much more active than others.
  return `usr_${FIRST_USER + Math.floor(draw.number() ** 2 * USER_COUNT)}`
}

/** Fills the placeholders in a text, or in every text of a data structure. */
function fill<T>(data: T, draw: Draw): T {
  if (typeof data === 'string') {
    return data.replace(/\{(\w+)\}/g, (whole, name: string) => PLACEHOLDERS[name]?.(draw) ?? whole) as T
  }
  if (Array.isArray(data)) return data.map((item) => fill(item, draw)) as T
  if (typeof data !== 'object' || data === null) return data
  return Object.fromEntries(Object.entries(data).map(([key, value]) => [key, fill(value, draw)])) as T
}
