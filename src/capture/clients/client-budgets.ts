import type { ErrorEvent } from '../../model/event.js'
import { fingerprintSignature } from '../../model/grouping/signature.js'
import { releaseName } from '../../model/releases/releases.js'
import { DAY, HOUR, startOfHour } from '../../model/time.js'
import { ownApplicationId } from '../../store/applications.js'
import { groupKey } from '../../store/recording/folded-group.js'
import { firstSeenTimes, releaseKey } from '../../store/releases.js'
import type { CaptureContext } from '../capture-context.js'
import { TEXT_LIMITS } from '../values/text-limits.js'
import { ClientEnvironments } from './client-environments.js'
import { SharedBudget, type SharedBudgetOptions } from './shared-budget.js'
import { storedBytes } from './stored-bytes.js'
import { createTimeLimitedRunner, type TimeLimitedRunner } from './time-limited.js'

/** Title of the error that collects new client errors beyond `client_max_new_errors_per_hour`. */
export const OVER_LIMIT_TYPE = 'Client errors over the hourly limit'
/** Signatures and releases cached as existing, so that repeats need no query. */
const MAX_CACHED_DECISIONS = 10_000
/** Bytes reserved at a time. A killed process wastes at most this much of the daily budget. */
const SHARE_BYTES = 500_000
/**
 * More than any host deploys in a day. Pages list all releases of a year, so a flood of versions would slow them down.
 */
const MAX_NEW_RELEASES_PER_DAY = 200
/** Minimum bytes per day for occurrences without details, regardless of the option. */
const MIN_COUNTED_BYTES = 10_000_000
const MAX_COUNTED_MESSAGE_LENGTH = 500
const NO_DETAILS = 'counted without details'
/**
 * Share of the spool that client errors can fill while the database is unreachable. The rest is reserved for server
 * errors.
 */
const SPOOL_SHARE = 1 / 8
/** Replaces the platform of each error in a flood, so that no rows are added to the hourly rollups. */
const OTHER_PLATFORM = 'Other'

const budgets = new WeakMap<CaptureContext, ClientBudgets>()

/** Budgets of this tracker, created with its first client error. */
export function getClientBudgets(context: CaptureContext): ClientBudgets {
  const existing = budgets.get(context)
  if (existing) return existing
  const created = new ClientBudgets(context)
  budgets.set(context, created)
  return created
}

/** Applies the limits for new errors and stored bytes to client errors that are about to be recorded. */
export class ClientBudgets {
  readonly #context: CaptureContext
  readonly #newErrors: SharedBudget
  readonly #newReleases: SharedBudget
  readonly #bytes: SharedBudget
  readonly #countedBytes: SharedBudget
  readonly #runTimeLimited: TimeLimitedRunner = createTimeLimitedRunner()
  readonly #decisions = new Map<string, Promise<boolean>>()
  readonly #storedRows = new Set<string>()
  readonly #environments: ClientEnvironments
  #applicationId: number | null = null

  constructor(context: CaptureContext) {
    this.#context = context
    const { client_max_new_errors_per_hour, client_max_stored_bytes_per_day: bytes, spool_max_bytes } = context.config
    const budget = (options: SharedBudgetOptions) => new SharedBudget(context, options, this.#runTimeLimited)
    this.#environments = new ClientEnvironments(context, (work) => this.#query(work))
    const daily = (limit: number) => ({
      ...{ limit, periodMs: DAY, share: Math.min(SHARE_BYTES, Math.ceil(limit / 10)) },
      localLimit: Math.min(limit, Math.floor(spool_max_bytes * SPOOL_SHARE)),
    })
    this.#newErrors = budget({
      ...{ budget: 'client_max_new_errors_per_hour', limit: client_max_new_errors_per_hour },
      ...{ periodMs: HOUR, share: 1 },
    })
    this.#newReleases = budget({
      ...{ budget: 'client_releases_per_day', limit: MAX_NEW_RELEASES_PER_DAY, periodMs: DAY, share: 1 },
    })
    this.#bytes = budget({ ...daily(bytes), budget: 'client_max_stored_bytes_per_day' })
    const counted = daily(Math.max(bytes, MIN_COUNTED_BYTES))
    this.#countedBytes = budget({ ...counted, budget: 'client_max_stored_bytes_per_day:counted' })
  }

  /** Returns the event to record, reduced if a limit is exceeded. Never drops an occurrence and never rejects. */
  async admit(event: ErrorEvent): Promise<ErrorEvent> {
    const { reject, storms, now } = this.#context
    event.environment = await this.#environments.admit(event.environment)
    if (await this.#isKnownError(event)) return this.#withinBytes(await this.#withKnownRelease(event))
    reject('client_max_new_errors_per_hour')
    const shared = toOverLimitEvent(event)
    return storms.isOnlyCounted(shared.hash_signature, now()) ? this.#withoutDetails(shared) : this.#withinBytes(shared)
  }

  async #withinBytes(event: ErrorEvent): Promise<ErrorEvent> {
    if (await this.#bytes.take(storedBytes(event, this.#storedRows))) return event
    this.#context.reject('client_max_stored_bytes_per_day')
    return this.#withoutDetails(event)
  }

  /**
   * Removes the details of an occurrence. Its remaining rows count against a second limit of the same size. Beyond that
   * limit, one shared error counts all further occurrences.
   */
  async #withoutDetails(event: ErrorEvent): Promise<ErrorEvent> {
    const counted = toCountedOnlyEvent(event, this.#context.now())
    if (await this.#countedBytes.take(storedBytes(counted, this.#storedRows))) return counted
    const { event_digest: _, ...shared } = toOverLimitEvent({ ...counted, message: NO_DETAILS })
    return shared
  }

  #isKnownError({ hash_signature, environment }: ErrorEvent): Promise<boolean> {
    return this.#isKnownOrAllowed(
      groupKey({ hash_signature, environment }),
      this.#newErrors,
      async (application_id) => {
        const row = await this.#context.database.read
          .selectFrom('faultboard_errors')
          .select('id')
          .where('application_id', '=', application_id)
          .where('environment', '=', environment)
          .where('hash_signature', '=', hash_signature)
          .executeTakeFirst()
        return row !== undefined
      },
    )
  }

  async #withKnownRelease(event: ErrorEvent): Promise<ErrorEvent> {
    const { platform, environment } = event
    const name = releaseName(event)
    if (name === null) return event
    const release = { platform, environment, name }
    const isKnown = await this.#isKnownOrAllowed(releaseKey(release), this.#newReleases, async (application_id) => {
      const lookup = { application_id, reporter: 'client' } as const
      return (await firstSeenTimes(this.#context.database.read, lookup, [release])).size > 0
    })
    if (isKnown) return event
    this.#context.counters.add('client_release_left_out')
    return { ...event, app_version: null, git_sha: null }
  }

  /** Shares one lookup among concurrent callers with the same key, so that a new item uses its budget once. */
  #isKnownOrAllowed(
    key: string,
    budget: SharedBudget,
    isStored: (application_id: number) => Promise<boolean>,
  ): Promise<boolean> {
    const cached = this.#decisions.get(key)
    if (cached) return cached
    const decision = this.#lookUp(isStored).then((isFound) => isFound || budget.take(1))
    if (this.#decisions.size >= MAX_CACHED_DECISIONS) this.#decisions.clear()
    this.#decisions.set(key, decision)
    void decision.then((isAllowed) => {
      // A rejected item is checked again in the next period.
      if (!isAllowed) this.#decisions.delete(key)
    })
    return decision
  }

  /** Returns false while the database is unreachable, so that anything this process has not seen counts as new. */
  async #lookUp(isStored: (application_id: number) => Promise<boolean>): Promise<boolean> {
    return (await this.#query(isStored)) ?? false
  }

  /** Returns null before the first write of the application, and while the database is unreachable. */
  async #query<T>(work: (application_id: number) => Promise<T>): Promise<T | null> {
    try {
      return await this.#runTimeLimited(async () => {
        await this.#context.ready()
        this.#applicationId ??= await ownApplicationId(this.#context)
        return this.#applicationId === null ? null : await work(this.#applicationId)
      })
    } catch {
      return null
    }
  }
}

/** Keeps the original type and message in the message, and drops everything that a flood could vary in the rollups. */
function toOverLimitEvent(event: ErrorEvent): ErrorEvent {
  return {
    ...event,
    hash_signature: fingerprintSignature(OVER_LIMIT_TYPE, 'reporting'),
    error_type: OVER_LIMIT_TYPE,
    message: `${event.error_type}: ${event.message}`.slice(0, TEXT_LIMITS.message).toWellFormed(),
    ...WITHOUT_DIMENSIONS,
  }
}

const WITHOUT_DIMENSIONS = { place: null, platform: OTHER_PLATFORM, app_version: null, git_sha: null, user_id: null }

/** Reduces an event to a count, without details and without new rollup rows by version, platform, user or past hour. */
function toCountedOnlyEvent(event: ErrorEvent, now: number): ErrorEvent {
  return {
    ...event,
    ...WITHOUT_DIMENSIONS,
    ...{ place: event.place, occurred_at: Math.max(event.occurred_at, startOfHour(now)) },
    message: event.message.slice(0, MAX_COUNTED_MESSAGE_LENGTH).toWellFormed(),
    ...{ backtrace: [], causes: [], request_url: null, ip_address: null, user_agent: null },
    context: event.source === undefined ? {} : { source: event.source },
    counted_only: true,
  }
}
