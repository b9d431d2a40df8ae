import * as v from 'valibot'
import type { Context } from '../../context.js'
import { parseInput, requiredText } from '../../model/input/input.js'
import type { Scope } from '../../model/input/scope.js'
import { normalizePlatform } from '../../model/requests/platform.js'
import * as r from '../../model/result.js'
import { defineOperation } from '../../operation.js'
import { RankedError, topBy, withErrors } from '../ranked-errors.js'
import { STABILITY_STATUSES } from '../stability-score.js'
import { type PeriodView, periodInput, periodView } from '../sums/period.js'
import { type CrossPlatformError, crossPlatformErrors } from './cross-platform-errors.js'
import { type ErrorPlatform, errorPlatforms } from './error-platforms.js'
import {
  emptyRate,
  type PlatformFigures,
  PlatformRate,
  PlatformStability,
  platformFigures,
  platformStability,
} from './platform-figures.js'

export const PLATFORM_DAYS = 7
const MAX_ERRORS = 20

const platformInput = v.object({ platform: requiredText({ max: 64 }) })

const PlatformError = r.object({
  ...RankedError.entries,
  /** Occurrences on this platform. */
  count: r.integer,
})
type PlatformError = v.InferOutput<typeof PlatformError>

export const PlatformHealth = r.object({
  ...PlatformRate.entries,
  ...PlatformStability.entries,
  /** Null if there are no occurrences. */
  stability_score: r.nullable(r.number),
  status: r.oneOf([...STABILITY_STATUSES, 'quiet']),
  top_errors: r.list(PlatformError),
})
export type PlatformHealth = v.InferOutput<typeof PlatformHealth>

/** Record ids start at 1. */
const NO_APPLICATION = 0

/**
 * Compares platforms over the last days, including today, by occurrences.
 *
 * @example
 * const comparison = new Tracker.Queries.PlatformComparison({ days: 7 })
 * const [worst] = await comparison.errorRateByPlatform()
 */
export const comparePlatforms = defineOperation({
  input: periodInput,
  run: async (context, input) => new PlatformComparison(context, input),
})

export class PlatformComparison {
  readonly #context: Context
  readonly #days: number
  readonly #scope: Scope
  #figures: Promise<PlatformFigures> | null = null
  #sums: Promise<ErrorPlatform[]> | null = null

  constructor(
    context: Context,
    { days = PLATFORM_DAYS, application_id, environment }: v.InferOutput<typeof periodInput>,
  ) {
    this.#context = context
    this.#days = days
    this.#scope = { application_id, environment }
  }

  async period(): Promise<PeriodView> {
    const { period, now } = await this.#load()
    return periodView(period, now)
  }

  /** Occurrences, share, daily rate, severities and growth per platform, most occurrences first. */
  async errorRateByPlatform(): Promise<PlatformRate[]> {
    return (await this.#load()).rates
  }

  /** Stability of each platform, least stable first. */
  async platformStabilityScores(): Promise<PlatformStability[]> {
    const { rates, resolution } = await this.#load()
    return rates
      .map((rate) => platformStability(rate, resolution))
      .sort((a, b) => a.stability_score - b.stability_score || (a.platform < b.platform ? -1 : 1))
  }

  /** Summary of one platform with its most frequent errors. */
  async platformHealthSummary(platform: string): Promise<PlatformHealth> {
    const name = normalizePlatform(parseInput(platformInput, { platform }).platform)
    const { rates, resolution, period } = await this.#load()
    const rate = rates.find((candidate) => candidate.platform === name) ?? emptyRate(name, period)
    const stability = platformStability(rate, resolution)
    return {
      ...rate,
      ...stability,
      ...(rate.occurrences === 0 ? { stability_score: null, status: 'quiet' } : {}),
      top_errors: await platformErrors(this.#context, await this.#errors(), name, MAX_ERRORS),
    }
  }

  /** Error types at one location on at least two platforms, most occurrences first. */
  async crossPlatformErrors(): Promise<CrossPlatformError[]> {
    return crossPlatformErrors(this.#context, await this.#errors(), MAX_ERRORS)
  }

  async #errors(): Promise<ErrorPlatform[]> {
    const { period } = await this.#load()
    this.#sums ??= errorPlatforms(this.#context, this.#enabledScope(), period).catch((error) => {
      this.#sums = null
      throw error
    })
    return this.#sums
  }

  /** Matches no application while the feature is off, so that every result is empty. */
  #enabledScope(): Scope {
    return this.#context.config.enable_platform_comparison
      ? this.#scope
      : { ...this.#scope, application_id: NO_APPLICATION }
  }

  /** Loaded once and shared by all methods, so that their results are consistent. */
  #load(): Promise<PlatformFigures> {
    this.#figures ??= platformFigures(this.#context, this.#enabledScope(), this.#days).catch((error) => {
      this.#figures = null
      throw error
    })
    return this.#figures
  }
}

/** Errors with the most occurrences on a platform. */
async function platformErrors(
  context: Context,
  sums: readonly ErrorPlatform[],
  platform: string,
  limit: number,
): Promise<PlatformError[]> {
  const own = sums.filter((sum) => sum.platform === platform).map(({ error_id, count }) => ({ id: error_id, count }))
  return withErrors(
    context,
    topBy(own, ({ count }) => count, limit),
  )
}
