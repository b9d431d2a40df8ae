import { Tracker } from '../../index.js'
import { ConfigurationError } from '../../model/errors.js'
import type { TrackerInstance } from '../../tracker.js'
import type { ClientOptions } from '../client.js'
import { createCors } from '../cors.js'
import { createLimits, type LimitOptions } from '../limits.js'
import { type Mountable, mountable } from '../mountable.js'
import type { PublicKeys } from './public-key.js'
import { createReceiver } from './receive.js'

export interface SentryIntakeOptions extends ClientOptions, Partial<LimitOptions> {
  /** Left out: the default tracker. */
  tracker?: TrackerInstance
  /** The public keys that may report, or a function `(public_key, project_id) => boolean`. */
  keys: PublicKeys
  /** Origins of other sites whose pages may report here, such as `https://shop.example`. None by default. */
  allowed_origins?: readonly string[]
  /** Keeps the address of whoever reports, or what the event says of it, with the error. Off by default. */
  store_ip_addresses?: boolean
  /** The most bytes of one envelope, as it is sent and unpacked; 1 MB by default. */
  max_bytes?: number
}

const DEFAULTS = { max_bytes: 1_048_576, max_errors_per_minute: 1000, max_errors_per_minute_overall: 6000 }
const MOST: typeof DEFAULTS = {
  max_bytes: 20 * 1_048_576,
  max_errors_per_minute: 1_000_000,
  max_errors_per_minute_overall: 1_000_000,
}

/**
 * Takes what Sentry SDKs send, so that they report here by a DSN alone: `https://KEY@host/sentry/1` for an intake that
 * is mounted at /sentry.
 *
 * @example
 * app.use('/sentry', sentryIntake({ keys: ['8c1f0a…'], allowed_origins: ['https://shop.example'] }).express)
 */
export function sentryIntake(options: SentryIntakeOptions): Mountable {
  const { tracker = Tracker, keys, allowed_origins, client_address, store_ip_addresses = false } = options
  const numbers = numbersOf(options)
  checkOptions(keys, numbers)
  const cors = createCors({ allowed_origins })
  const { max_bytes, ...limits } = numbers
  const parts = { keys, cors, limits: createLimits(tracker, limits), client_address, store_ip_addresses, max_bytes }
  return mountable(createReceiver(parts, tracker))
}

function numbersOf(options: SentryIntakeOptions): typeof DEFAULTS {
  const { max_bytes, max_errors_per_minute, max_errors_per_minute_overall } = options
  return {
    max_bytes: max_bytes ?? DEFAULTS.max_bytes,
    max_errors_per_minute: max_errors_per_minute ?? DEFAULTS.max_errors_per_minute,
    max_errors_per_minute_overall: max_errors_per_minute_overall ?? DEFAULTS.max_errors_per_minute_overall,
  }
}

function checkOptions(keys: unknown, numbers: typeof DEFAULTS): void {
  const problems: string[] = []
  const isList = Array.isArray(keys) && keys.length > 0 && keys.every((key) => typeof key === 'string' && key !== '')
  if (typeof keys !== 'function' && !isList) {
    problems.push('sentryIntake needs keys: a list of the public keys that may report, or a function')
  }
  for (const name of Object.keys(DEFAULTS) as (keyof typeof DEFAULTS)[]) {
    const number = numbers[name]
    if (Number.isInteger(number) && number >= 1 && number <= MOST[name]) continue
    problems.push(`sentryIntake: ${name} must be a whole number from 1 to ${MOST[name]}`)
  }
  if (problems.length > 0) throw new ConfigurationError(problems)
}
