import { setTimeout } from 'node:timers/promises'
import type { LoggedError } from '../../index.js'
import { DAY, HOUR } from '../../model/time.js'
import type { TrackerInstance } from '../../tracker.js'
import { withoutDashboard } from '../configuration.js'
import { openTracker } from '../open-tracker.js'
import { APPLICATIONS } from './applications.js'
import { Draw } from './draw.js'
import { history, isReturn, type Moment, nextMoments } from './history.js'
import type { Kind } from './kind.js'
import { APP_ROOT, sampleError } from './sample-error.js'
import { triage } from './triage.js'

export interface SampleOptions {
  database: string | object
  seed: number
  now: number
}

/** Enough for every page to show data. The rest is recorded in the background. */
const FIRST_MOMENTS = 2500
/** Small enough for the dashboard to respond between two slices. */
const BATCH_SIZE = 100
const PAUSE_MS = 20
/** Period in which cascades are detected at the end. */
const DETECTED_MS = 30 * DAY
const LIVE_INTERVAL_MS = { min: 1500, max: 6000 }

/** The sample applications, each with its own tracker on the same database. */
export class Sample {
  readonly #options: SampleOptions
  readonly #trackers: ReadonlyMap<string, TrackerInstance>
  readonly #clock: Clock
  /** Ids of the recorded errors, by the key of their kind. */
  readonly #ids = new Map<string, number>()
  readonly #running: Promise<void>[] = []

  private constructor(options: SampleOptions, trackers: ReadonlyMap<string, TrackerInstance>, clock: Clock) {
    this.#options = options
    this.#trackers = trackers
    this.#clock = clock
  }

  static async open(options: SampleOptions): Promise<Sample> {
    const trackers = new Map<string, TrackerInstance>()
    const clock: Clock = { fixedTime: null }
    const now = () => clock.fixedTime ?? Date.now()
    for (const { name } of APPLICATIONS) trackers.set(name, await openSampleTracker(options.database, name, now))
    return new Sample(options, trackers, clock)
  }

  /** Resolves when there is enough data to show, and continues with older and new errors until stopped. */
  async start(stop: AbortSignal): Promise<void> {
    if (!(await this.#isSeeded())) {
      const { now } = this.#options
      const { first, completeSince, returns, rest } = split(history(this.#options.seed, now), now)
      await this.#recordAll(first, stop, 0)
      await this.#triage()
      await this.#recordReturns(returns, stop)
      await this.#detect(now - completeSince)
      this.#running.push(this.#recordAll(rest, stop, PAUSE_MS).then(() => this.#detect(DETECTED_MS, stop)))
    }
    this.#running.push(this.#live(stop))
  }

  async close(): Promise<void> {
    await Promise.all(this.#running)
    for (const tracker of this.#trackers.values()) await tracker.shutdown()
  }

  /** A database from an earlier demo keeps its history; recording it again would double every count. */
  async #isSeeded(): Promise<boolean> {
    const [first] = this.#trackers.values()
    const names = ((await first?.Queries.Applications.call()) ?? []).map(({ name }) => name)
    return names.some((name) => this.#trackers.has(name))
  }

  async #recordAll(moments: readonly Moment[], stop: AbortSignal, pauseMs: number): Promise<void> {
    for (let from = 0; from < moments.length && !stop.aborted; from += BATCH_SIZE) {
      await Promise.all(moments.slice(from, from + BATCH_SIZE).map((moment) => this.#record(moment)))
      await pause(pauseMs, stop)
    }
  }

  async #record(moment: Moment): Promise<void> {
    const { application, kind } = moment
    const logged: LoggedError | null | undefined = await this.#trackers
      .get(application.name)
      ?.Commands.LogError.call(sampleError(moment, this.#options.now))
    if (logged?.id) this.#ids.set(kind.key, logged.id)
  }

  async #triage(): Promise<void> {
    const { database, now } = this.#options
    let clock = now
    const operator = await openSampleTracker(database, 'operator', () => clock)
    await triage(operator, this.#ids, now, (time) => {
      clock = time
    })
    await operator.shutdown()
  }

  /** Regressions of resolved errors, recorded at their time for the activity trail. */
  async #recordReturns(returns: readonly Moment[], stop: AbortSignal): Promise<void> {
    const firsts = new Map([...returns].reverse().map((moment) => [moment.kind, moment]))
    for (const moment of firsts.values()) {
      this.#clock.fixedTime = moment.occurred_at
      await this.#record(moment)
    }
    this.#clock.fixedTime = null
    const others = returns.filter((moment) => firsts.get(moment.kind) !== moment)
    await this.#recordAll(others, stop, 0)
  }

  /** Runs the detection jobs now instead of waiting for their hourly or daily schedule. */
  async #detect(reach_ms: number, stop?: AbortSignal): Promise<void> {
    const [first] = this.#trackers.values()
    if (!first || stop?.aborted) return
    await first.Services.CascadeDetector.call({ lookback_hours: Math.max(1, Math.floor(reach_ms / HOUR)) })
    await first.Services.BaselineCalculator.calculateAllBaselines()
  }

  async #live(stop: AbortSignal): Promise<void> {
    const draw = new Draw(this.#options.seed + 1)
    while (!stop.aborted) {
      await pause(draw.integer(LIVE_INTERVAL_MS.min, LIVE_INTERVAL_MS.max), stop)
      const [moment, ...consequences] = nextMoments(Date.now(), draw)
      if (moment && !stop.aborted) await this.#record(moment)
      for (const consequence of consequences) {
        await pause(consequence.occurred_at - Date.now(), stop)
        if (!stop.aborted) await this.#record(consequence)
      }
    }
  }
}

/** Null for the real clock. */
interface Clock {
  fixedTime: number | null
}

/** Ignores the environment: its variables belong to the real application. */
function openSampleTracker(
  database: string | object,
  application_name: string,
  now = Date.now,
): Promise<TrackerInstance> {
  const settings = withoutDashboard({ database, application_name, project_root: APP_ROOT, environment: 'production' })
  return openTracker(settings, { env: {}, now })
}

interface Parts {
  first: Moment[]
  /** Time from which the history is complete. */
  completeSince: number
  returns: Moment[]
  rest: Moment[]
}

/**
 * Splits the history: first the oldest moment of each kind, because a group stores its first version, then the newest
 * moments. Regressions wait until their error is resolved. The rest is in between.
 */
function split(moments: readonly Moment[], now: number): Parts {
  const oldest = new Map(moments.map((moment) => [moment.kind, moment]))
  const seen = new Set<Kind>()
  const newest: Moment[] = []
  const returns: Moment[] = []
  const rest: Moment[] = []
  for (const moment of moments) {
    if (oldest.get(moment.kind) === moment) continue
    if (isReturn(moment, now)) {
      returns.unshift(moment)
      continue
    }
    if (newest.length < FIRST_MOMENTS || !seen.has(moment.kind)) newest.push(moment)
    else rest.push(moment)
    seen.add(moment.kind)
  }
  const completeSince = newest[FIRST_MOMENTS - 1]?.occurred_at ?? now
  return { first: [...oldest.values(), ...newest], completeSince, returns, rest }
}

async function pause(ms: number, signal: AbortSignal): Promise<void> {
  // Only the signal ends a pause early, and the caller checks it next.
  await setTimeout(Math.max(0, ms), null, { signal }).catch(() => {})
}
