import { setTimeout } from 'node:timers/promises'
import type { LoggedError } from '../../index.js'
import type { TrackerInstance } from '../../tracker.js'
import { withoutDashboard } from '../configuration.js'
import { openTracker } from '../open-tracker.js'
import { APPLICATIONS } from './applications.js'
import { Draw } from './draw.js'
import { history, type Moment, nextMoments } from './history.js'
import type { Kind } from './kind.js'
import { APP_ROOT, sampleError } from './sample-error.js'
import { triage } from './triage.js'

export interface SampleOptions {
  database: string | object
  seed: number
  now: number
}

/** Enough for every page to have something to show; the rest follows while one looks at it. */
const FIRST_MOMENTS = 2500
/** Small enough for the dashboard to answer between two slices. */
const SLICE = 100
const PAUSE_MS = 20
const LIVE_MS = { least: 1500, most: 6000 }

/** The sample applications, each with a tracker of its own on the one database. */
export class Sample {
  readonly #options: SampleOptions
  readonly #trackers: ReadonlyMap<string, TrackerInstance>
  /** Ids of the errors that are recorded so far, by the key of their kind. */
  readonly #ids = new Map<string, number>()
  readonly #running: Promise<void>[] = []

  private constructor(options: SampleOptions, trackers: ReadonlyMap<string, TrackerInstance>) {
    this.#options = options
    this.#trackers = trackers
  }

  static async open(options: SampleOptions): Promise<Sample> {
    const trackers = new Map<string, TrackerInstance>()
    for (const { name } of APPLICATIONS) trackers.set(name, await openSampleTracker(options.database, name))
    return new Sample(options, trackers)
  }

  /** Settles when there is enough to look at, and goes on with older and with new errors until it is stopped. */
  async start(stop: AbortSignal): Promise<void> {
    if (!(await this.#isThere())) {
      const { first, rest } = split(history(this.#options.seed, this.#options.now))
      await this.#recordAll(first, stop, 0)
      await this.#triage()
      this.#running.push(this.#recordAll(rest, stop, PAUSE_MS))
    }
    this.#running.push(this.#live(stop))
  }

  async close(): Promise<void> {
    await Promise.all(this.#running)
    for (const tracker of this.#trackers.values()) await tracker.shutdown()
  }

  /** A database that was used for a demo before keeps its history; a second one would double every count. */
  async #isThere(): Promise<boolean> {
    const [first] = this.#trackers.values()
    const names = ((await first?.Queries.Applications.call()) ?? []).map(({ name }) => name)
    return names.some((name) => this.#trackers.has(name))
  }

  async #recordAll(moments: readonly Moment[], stop: AbortSignal, pause_ms: number): Promise<void> {
    for (let from = 0; from < moments.length && !stop.aborted; from += SLICE) {
      await Promise.all(moments.slice(from, from + SLICE).map((moment) => this.#record(moment)))
      await pause(pause_ms, stop)
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

  async #live(stop: AbortSignal): Promise<void> {
    const draw = new Draw(this.#options.seed + 1)
    while (!stop.aborted) {
      await pause(draw.integer(LIVE_MS.least, LIVE_MS.most), stop)
      const [moment, ...consequences] = nextMoments(Date.now(), draw)
      if (moment && !stop.aborted) await this.#record(moment)
      for (const consequence of consequences) {
        await pause(consequence.occurred_at - Date.now(), stop)
        if (!stop.aborted) await this.#record(consequence)
      }
    }
  }
}

/** No environment: the operator's own variables are meant for the real application. */
function openSampleTracker(
  database: string | object,
  application_name: string,
  now = Date.now,
): Promise<TrackerInstance> {
  const settings = withoutDashboard({ database, application_name, project_root: APP_ROOT, environment: 'production' })
  return openTracker(settings, { env: {}, now })
}

/**
 * First the oldest moment of each kind, because a group remembers the version that began it; then the newest of all,
 * and at least one of each kind. The rest is what lies between.
 */
function split(moments: readonly Moment[]): { first: Moment[]; rest: Moment[] } {
  const oldest = new Map(moments.map((moment) => [moment.kind, moment]))
  const seen = new Set<Kind>()
  const newest: Moment[] = []
  const rest: Moment[] = []
  for (const moment of moments) {
    if (oldest.get(moment.kind) === moment) continue
    if (newest.length < FIRST_MOMENTS || !seen.has(moment.kind)) newest.push(moment)
    else rest.push(moment)
    seen.add(moment.kind)
  }
  return { first: [...oldest.values(), ...newest], rest }
}

async function pause(ms: number, signal: AbortSignal): Promise<void> {
  // Only the signal ends a pause early, and whoever pauses looks at it next.
  await setTimeout(Math.max(0, ms), null, { signal }).catch(() => {})
}
