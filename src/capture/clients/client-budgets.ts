import type { ErrorEvent } from '../../model/event.js'
import { fingerprintSignature } from '../../model/signature.js'
import { DAY, HOUR } from '../../model/time.js'
import { ownApplicationId } from '../../store/applications.js'
import type { CaptureContext } from '../capture-context.js'
import { TEXT_LIMITS } from '../text-limits.js'
import { SharedBudget } from './shared-budget.js'
import { storedBytes } from './stored-bytes.js'

/** Title of the error that collects new client errors beyond `client_max_new_errors_per_hour`. */
export const OVER_LIMIT_TYPE = 'Client errors over the hourly limit'
/** Signatures remembered as existing errors, so that repeats need no query. */
const MAX_KNOWN = 10_000
/** Bytes reserved at a time; a killed process wastes at most this much of the day's budget. */
const SHARE_BYTES = 500_000
/** Occurrences and values that a flood makes up must not become rows of the hourly sums. */
const OTHER_PLATFORM = 'Other'

const budgets = new WeakMap<CaptureContext, ClientBudgets>()

/** The budgets of this tracker, created with its first client error. */
export function clientBudgets(context: CaptureContext): ClientBudgets {
  const known = budgets.get(context)
  if (known) return known
  const made = new ClientBudgets(context)
  budgets.set(context, made)
  return made
}

/** Applies the limits for new errors and stored bytes to client errors that are about to be recorded. */
export class ClientBudgets {
  readonly #context: CaptureContext
  readonly #newErrors: SharedBudget
  readonly #bytes: SharedBudget
  readonly #known = new Map<string, Promise<boolean>>()
  readonly #rows = new Set<string>()
  #application_id: number | null = null

  constructor(context: CaptureContext) {
    this.#context = context
    const { client_max_new_errors_per_hour, client_max_stored_bytes_per_day: bytes } = context.config
    this.#newErrors = new SharedBudget(context, {
      ...{ budget: 'client_max_new_errors_per_hour', limit: client_max_new_errors_per_hour },
      ...{ period_ms: HOUR, share: 1 },
    })
    this.#bytes = new SharedBudget(context, {
      ...{ budget: 'client_max_stored_bytes_per_day', limit: bytes, period_ms: DAY },
      share: Math.min(SHARE_BYTES, Math.ceil(bytes / 10)),
    })
  }

  /** The event as it may be recorded. Its occurrence is always counted. Never rejects. */
  async admit(event: ErrorEvent): Promise<ErrorEvent> {
    const { reject, storms, now } = this.#context
    if (!(await this.#isKnownOrAllowed(event.hash_signature))) {
      reject('client_max_new_errors_per_hour')
      const shared = overLimit(event)
      return storms.isThinned(shared.hash_signature, now()) ? countedOnly(shared) : this.#withinBytes(shared)
    }
    return this.#withinBytes(event)
  }

  async #withinBytes(event: ErrorEvent): Promise<ErrorEvent> {
    if (await this.#bytes.take(storedBytes(event, this.#rows))) return event
    this.#context.reject('client_max_stored_bytes_per_day')
    return countedOnly(event)
  }

  /** Callers that ask for one signature at the same time share one answer, so that a new error uses the budget once. */
  #isKnownOrAllowed(hash_signature: string): Promise<boolean> {
    const known = this.#known.get(hash_signature)
    if (known) return known
    const asked = this.#isStored(hash_signature).then((isStored) => isStored || this.#newErrors.take(1))
    if (this.#known.size >= MAX_KNOWN) this.#known.clear()
    this.#known.set(hash_signature, asked)
    void asked.then((isAllowed) => {
      // Beyond the limit the next hour decides anew.
      if (!isAllowed) this.#known.delete(hash_signature)
    })
    return asked
  }

  async #isStored(hash_signature: string): Promise<boolean> {
    const { database, ready } = this.#context
    try {
      await ready()
      this.#application_id ??= await ownApplicationId(this.#context)
      if (this.#application_id === null) return false
      const row = await database.read
        .selectFrom('faultboard_errors')
        .select('id')
        .where('application_id', '=', this.#application_id)
        .where('hash_signature', '=', hash_signature)
        .executeTakeFirst()
      return row !== undefined
    } catch {
      // The database is unreachable: an error that this process has not seen counts as new.
      return false
    }
  }
}

/** Keeps type and message of the original in the message, and nothing that a flood could vary in the sums. */
function overLimit(event: ErrorEvent): ErrorEvent {
  return {
    ...event,
    hash_signature: fingerprintSignature(OVER_LIMIT_TYPE, 'reporting'),
    error_type: OVER_LIMIT_TYPE,
    message: `${event.error_type}: ${event.message}`.slice(0, TEXT_LIMITS.message).toWellFormed(),
    ...WITHOUT_DIMENSIONS,
  }
}

const WITHOUT_DIMENSIONS = { place: null, platform: OTHER_PLATFORM, app_version: null, git_sha: null, user_id: null }

/** Counts without a row: no details, and no new rows in the sums by version, platform or user. */
function countedOnly(event: ErrorEvent): ErrorEvent {
  return {
    ...event,
    ...WITHOUT_DIMENSIONS,
    place: event.place,
    ...{ backtrace: [], causes: [], request_url: null, ip_address: null, user_agent: null },
    context: event.source === undefined ? {} : { source: event.source },
    counted_only: true,
  }
}
