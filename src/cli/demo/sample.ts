import { setTimeout } from 'node:timers/promises'
import type { LoggedError } from '../../index.js'
import type { ChangeOrigin } from '../../model/people/audit.js'
import { DAY, HOUR } from '../../model/time.js'
import type { TrackerInstance } from '../../tracker.js'
import { openTracker } from '../open-tracker.js'
import { APPLICATIONS, type SampleApplication } from './applications.js'
import { CUSTOMER_REQUESTS, type CustomerRequest, sendAsCustomer } from './customers.js'
import { history, isRegression, nextOccurrences, type PlannedOccurrence, stagingHistory } from './history.js'
import type { SampleKind } from './kind.js'
import { nextPause, PACES } from './pace.js'
import { recordPastDeliveries } from './past-deliveries.js'
import { APP_ROOT, sampleError } from './sample-error.js'
import { SeededRandom } from './seeded-random.js'
import { saveViews, triage } from './triage.js'

export interface SampleOptions {
  database: string
  seed: number
  now: number
}

/** The error that the newest release introduced. */
const NEW_ERROR = CUSTOMER_REQUESTS.find(({ kind }) => kind === 'order-not-saved')
/** Enough for every page to show data. The rest is recorded in the background. */
const INITIAL_OCCURRENCES = 2500
/** Small enough for the dashboard to respond between two batches. */
const BATCH_SIZE = 100
const PAUSE_MS = 20
/** Lookback of the cascade detection after the whole history is recorded. */
const DETECTION_WINDOW_MS = 30 * DAY
/** Requests per kind at the start, so that every feature has something to show. */
const FIRST_REQUESTS = 2
/** The only error of a browser. It has no history. */
const FIRST_REPORT = CUSTOMER_REQUESTS.find(({ kind }) => kind === 'basket-offer')
/** Long enough for the shop to serve the dashboard in between. */
const FIRST_REQUEST_PAUSE_MS = 30
/** Application whose new errors the shop process records itself. */
const SHOP = 'storefront'

/** The sample applications, each with its own tracker on the same database, and the customers of the shop. */
export class Sample {
  readonly #options: SampleOptions
  readonly #trackers: ReadonlyMap<string, TrackerInstance>
  readonly #clock: Clock
  /** Ids of the recorded errors, by the key of their kind. */
  readonly #ids = new Map<string, number>()
  readonly #running: Promise<void>[] = []
  #history: Promise<void> = Promise.resolve()

  private constructor(options: SampleOptions, trackers: ReadonlyMap<string, TrackerInstance>, clock: Clock) {
    this.#options = options
    this.#trackers = trackers
    this.#clock = clock
  }

  static async open(options: SampleOptions): Promise<Sample> {
    const trackers = new Map<string, TrackerInstance>()
    const clock: Clock = { fixedTime: null }
    const now = () => clock.fixedTime ?? Date.now()
    for (const application of APPLICATIONS) {
      trackers.set(application.name, await openSampleTracker(options.database, application, now))
    }
    return new Sample(options, trackers, clock)
  }

  /** Resolves when there is enough data to show, and continues with older and new errors until stopped. */
  async start(shop: URL, stop: AbortSignal): Promise<void> {
    if (!(await this.#isSeeded())) {
      const { now, seed } = this.#options
      const { oldest, newest, completeSince, regressions, remaining } = splitHistory(history(seed, now), now)
      const staging = stagingHistory(seed, now)
      await this.#recordAll([...oldest, ...staging.first], stop, 0)
      // Sent before any error repeats, because repeats leave gaps in the ids of errors.
      await this.#sendFirstReport(shop)
      await this.#recordAll([...newest, ...staging.later], stop, 0)
      await this.#triage()
      await this.#recordRegressions(regressions, stop)
      await this.#detect(now - completeSince)
      this.#history = this.#recordAll(remaining, stop, PAUSE_MS)
      this.#running.push(this.#history.then(() => this.#detect(DETECTION_WINDOW_MS, stop)))
    }
    this.#running.push(this.#recordLive(stop), this.#sendRequests(shop, stop), this.#sendNewErrors(shop, stop))
  }

  /** Resolves when the history is recorded, or when the sample has stopped. */
  async historyComplete(): Promise<void> {
    await this.#history
  }

  /** Resolves when everything has stopped. */
  async running(): Promise<void> {
    await Promise.all(this.#running)
  }

  async close(): Promise<void> {
    await this.running()
    for (const tracker of this.#trackers.values()) await tracker.shutdown()
  }

  /** A database from an earlier demo keeps its history; recording it again would double every count. */
  async #isSeeded(): Promise<boolean> {
    const [first] = this.#trackers.values()
    const names = ((await first?.Queries.Applications.call()) ?? []).map(({ name }) => name)
    return names.some((name) => name !== SHOP && this.#trackers.has(name))
  }

  async #recordAll(occurrences: readonly PlannedOccurrence[], stop: AbortSignal, pauseMs: number): Promise<void> {
    for (let from = 0; from < occurrences.length && !stop.aborted; from += BATCH_SIZE) {
      await Promise.all(occurrences.slice(from, from + BATCH_SIZE).map((occurrence) => this.#record(occurrence)))
      await pause(pauseMs, stop)
    }
  }

  async #record(occurrence: PlannedOccurrence): Promise<void> {
    const { application, kind, environment } = occurrence
    const logged: LoggedError | null | undefined = await this.#trackers
      .get(application.name)
      ?.Commands.LogError.call(sampleError(occurrence, this.#options.now))
    // The team triages the errors of production.
    if (logged?.id && environment === undefined) this.#ids.set(kind.key, logged.id)
  }

  async #triage(): Promise<void> {
    const { database, now } = this.#options
    const [application] = APPLICATIONS
    if (!application) return
    let clock = now
    const operator = await openSampleTracker(database, application, () => clock)
    await triage(operator, this.#ids, now, (time) => {
      clock = time
    })
    clock = now
    await saveViews(operator)
    await recordPastDeliveries(operator, this.#ids, now)
    await operator.shutdown()
  }

  /** Regressions of resolved errors, recorded with the clock set to their time, for the activity trail. */
  async #recordRegressions(regressions: readonly PlannedOccurrence[], stop: AbortSignal): Promise<void> {
    const firstByKind = new Map([...regressions].reverse().map((occurrence) => [occurrence.kind, occurrence]))
    for (const occurrence of firstByKind.values()) {
      this.#clock.fixedTime = occurrence.occurred_at
      await this.#record(occurrence)
    }
    this.#clock.fixedTime = null
    const laterRegressions = regressions.filter((occurrence) => firstByKind.get(occurrence.kind) !== occurrence)
    await this.#recordAll(laterRegressions, stop, 0)
  }

  /** Runs the detection jobs now instead of waiting for their hourly or daily schedule. */
  async #detect(windowMs: number, stop?: AbortSignal): Promise<void> {
    const [first] = this.#trackers.values()
    if (!first || stop?.aborted) return
    await first.Services.CascadeDetector.call({ lookback_hours: Math.max(1, Math.floor(windowMs / HOUR)) })
    await first.Services.BaselineCalculator.calculateAllBaselines()
  }

  /** New errors of the other applications. */
  async #recordLive(stop: AbortSignal): Promise<void> {
    const random = new SeededRandom(this.#options.seed + 1)
    const started = Date.now()
    while (!stop.aborted) {
      await pause(nextPause(PACES.otherApplications, Date.now() - started, random), stop)
      for (const occurrence of nextOccurrences(Date.now(), random, (name) => name !== SHOP)) {
        await pause(occurrence.occurred_at - Date.now(), stop)
        if (!stop.aborted && (await this.#isOpen(occurrence.kind.key))) await this.#record(occurrence)
      }
    }
  }

  async #sendFirstReport(shop: URL): Promise<void> {
    if (FIRST_REPORT) await sendAsCustomer(shop, FIRST_REPORT, new SeededRandom(this.#options.seed))
  }

  /** Sends real customer requests: first some of each kind, then one at a time. */
  async #sendRequests(shop: URL, stop: AbortSignal): Promise<void> {
    const random = new SeededRandom(this.#options.seed + 2)
    const unsent = CUSTOMER_REQUESTS.filter((request) => request !== FIRST_REPORT)
    const first = Array.from({ length: FIRST_REQUESTS }, () => unsent).flat()
    for (const request of first) {
      await this.#sendRequest(shop, request, random, stop)
      await pause(FIRST_REQUEST_PAUSE_MS, stop)
    }
    const started = Date.now()
    while (!stop.aborted) {
      await pause(nextPause(PACES.customers, Date.now() - started, random), stop)
      const index = random.weightedIndex(CUSTOMER_REQUESTS.map(({ weight }) => weight))
      await this.#sendRequest(shop, CUSTOMER_REQUESTS[index] as CustomerRequest, random, stop)
    }
  }

  /** Repeats the error of the newest release. */
  async #sendNewErrors(shop: URL, stop: AbortSignal): Promise<void> {
    if (!NEW_ERROR) return
    const random = new SeededRandom(this.#options.seed + 3)
    const started = Date.now()
    while (!stop.aborted) {
      await pause(nextPause(PACES.newError, Date.now() - started, random), stop)
      await this.#sendRequest(shop, NEW_ERROR, random, stop)
    }
  }

  async #sendRequest(shop: URL, request: CustomerRequest, random: SeededRandom, stop: AbortSignal): Promise<void> {
    if (stop.aborted || (request.kind !== null && !(await this.#isOpen(request.kind)))) return
    await sendAsCustomer(shop, request, random)
  }

  /** False for an error that the visitor has resolved: a regression a few seconds later would look like a bug. */
  async #isOpen(key: string): Promise<boolean> {
    const error_id = this.#ids.get(key)
    const [tracker] = this.#trackers.values()
    if (error_id === undefined || !tracker) return true
    const resolved = await tracker.Queries.ErrorsList.call({ status: 'resolved', per_page: 100 })
    return !resolved.some(({ id }) => id === error_id)
  }
}

/** Null for the real clock. */
interface Clock {
  fixedTime: number | null
}

/** Ignores the environment: its variables belong to the real application. */
function openSampleTracker(
  database: string,
  { name, host }: SampleApplication,
  now: () => number,
): Promise<TrackerInstance> {
  const settings = { database, application_name: name, project_root: APP_ROOT, environment: 'production' }
  const origin: ChangeOrigin = { kind: 'password', actor: null, address: null }
  return openTracker(settings, { env: {}, now, processFacts: () => host, origin })
}

interface HistoryParts {
  oldest: PlannedOccurrence[]
  newest: PlannedOccurrence[]
  /** Time from which the history is complete. */
  completeSince: number
  regressions: PlannedOccurrence[]
  remaining: PlannedOccurrence[]
}

/**
 * Splits the history: first the oldest occurrence of each kind, because a group stores its first version, then the newest
 * occurrences. Regressions wait until their error is resolved. The rest is in between.
 */
function splitHistory(occurrences: readonly PlannedOccurrence[], now: number): HistoryParts {
  const oldest = new Map(occurrences.map((occurrence) => [occurrence.kind, occurrence]))
  const seen = new Set<SampleKind>()
  const newest: PlannedOccurrence[] = []
  const regressions: PlannedOccurrence[] = []
  const remaining: PlannedOccurrence[] = []
  for (const occurrence of occurrences) {
    if (oldest.get(occurrence.kind) === occurrence) continue
    if (isRegression(occurrence, now)) {
      regressions.unshift(occurrence)
      continue
    }
    if (newest.length < INITIAL_OCCURRENCES || !seen.has(occurrence.kind)) newest.push(occurrence)
    else remaining.push(occurrence)
    seen.add(occurrence.kind)
  }
  const completeSince = newest[INITIAL_OCCURRENCES - 1]?.occurred_at ?? now
  return { oldest: [...oldest.values()], newest, completeSince, regressions, remaining }
}

async function pause(ms: number, signal: AbortSignal): Promise<void> {
  // Only the signal ends a pause early, and the caller checks it next.
  await setTimeout(Math.max(0, ms), null, { signal }).catch(() => {})
}
