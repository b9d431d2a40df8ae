import { Tracker } from '../../index.js'
import { ConfigurationError } from '../../model/errors.js'
import { checkOptionNames } from '../../model/input/option-names.js'
import type { AnyCase } from '../../model/input/spelling.js'
import type { TrackerInstance } from '../../tracker.js'
import type { ClientOptions } from '../client.js'
import { createCors } from '../cors.js'
import { trackerLimits } from '../limits.js'
import { type Mountable, mountable } from '../mountable.js'
import type { PublicKeys } from './public-key.js'
import { createReceiver } from './receive.js'

/** Options in snake_case or camelCase. */
export type SentryIntakeOptions = AnyCase<CanonicalOptions>

interface CanonicalOptions extends ClientOptions {
  /** Default: the default tracker. */
  tracker?: TrackerInstance
  /** Public keys that may report, or a function `(public_key, project_id) => boolean`. */
  keys: PublicKeys
  /** Origins of other sites whose pages may report here, such as `https://shop.example`. None by default. */
  allowed_origins?: readonly string[]
  /** Stores the address of the client, or the address in the event, with the error. Off by default. */
  store_ip_addresses?: boolean
  /** Maximum size of one envelope in bytes, compressed and decompressed; 1 MB by default. */
  max_bytes?: number
}

const OPTION_NAMES: Record<keyof CanonicalOptions, true> = {
  tracker: true,
  keys: true,
  allowed_origins: true,
  store_ip_addresses: true,
  max_bytes: true,
  client_address: true,
}

const DEFAULT_MAX_BYTES = 1_048_576
const MAX_BYTES_LIMIT = 20 * 1_048_576

/**
 * Accepts events of Sentry SDKs, which only need a DSN: `https://KEY@host/sentry/1` for an intake mounted at /sentry.
 * @example app.use('/sentry', sentryIntake({ keys: ['8c1f0a…'], allowed_origins: ['https://shop.example'] }).express)
 */
export function sentryIntake(givenOptions: SentryIntakeOptions): Mountable {
  const options = checkOptionNames<CanonicalOptions>(givenOptions, OPTION_NAMES)
  const { tracker = Tracker, keys, allowed_origins, client_address, store_ip_addresses = false } = options
  const { max_bytes = DEFAULT_MAX_BYTES } = options
  checkOptions(keys, max_bytes)
  const cors = createCors({ allowed_origins })
  const parts = { keys, cors, limits: trackerLimits(tracker), client_address, store_ip_addresses, max_bytes }
  return mountable(createReceiver(parts, tracker))
}

function checkOptions(keys: unknown, max_bytes: number): void {
  const problems: string[] = []
  const isList = Array.isArray(keys) && keys.length > 0 && keys.every((key) => typeof key === 'string' && key !== '')
  if (typeof keys !== 'function' && !isList) {
    problems.push('sentryIntake requires keys: a list of the public keys that may report, or a function')
  }
  if (!Number.isInteger(max_bytes) || max_bytes < 1 || max_bytes > MAX_BYTES_LIMIT) {
    problems.push(`sentryIntake: max_bytes must be a whole number from 1 to ${MAX_BYTES_LIMIT}`)
  }
  if (problems.length > 0) throw new ConfigurationError(problems)
}
