import * as v from 'valibot'
import type { Context } from '../../context.js'
import { parseInput, requiredText } from '../../model/input.js'
import { normalizePlatform } from '../../model/requests/platform.js'
import { defineOperation } from '../../operation.js'
import type { Scope } from '../sums/application-filter.js'
import { type PeriodView, periodInput, periodView } from '../sums/period.js'
import { type CrossPlatformError, crossPlatformErrors } from './cross-platform-errors.js'
import { type ErrorPlatform, errorPlatforms } from './error-platforms.js'
import { type PlatformError, platformErrors } from './platform-errors.js'
import {
  type PlatformFigures,
  type PlatformRate,
  type PlatformStability,
  platformFigures,
  quietRate,
  stabilityOf,
} from './platform-figures.js'

export const PLATFORM_DAYS = 7
const LIMIT = 20

const platformInput = v.object({ platform: requiredText({ max: 64 }) })

export interface PlatformHealth extends PlatformRate, Omit<PlatformStability, 'stability_score' | 'status'> {
  /** Null where nothing occurred. */
  stability_score: number | null
  status: PlatformStability['status'] | 'quiet'
  top_errors: PlatformError[]
}

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

  constructor(context: Context, { days = PLATFORM_DAYS, application_id }: v.InferOutput<typeof periodInput>) {
    this.#context = context
    this.#days = days
    this.#scope = { application_id }
  }

  async period(): Promise<PeriodView> {
    const { period, now } = await this.#load()
    return periodView(period, now)
  }

  /** Occurrences, their share, rate a day, severities and growth per platform, most occurrences first. */
  async errorRateByPlatform(): Promise<PlatformRate[]> {
    return (await this.#load()).rates
  }

  /** How stable each platform is, the least stable first. */
  async platformStabilityScores(): Promise<PlatformStability[]> {
    const { rates, resolution } = await this.#load()
    return rates
      .map((rate) => stabilityOf(rate, resolution))
      .sort((a, b) => a.stability_score - b.stability_score || (a.platform < b.platform ? -1 : 1))
  }

  /** All that is known of one platform, with its most frequent errors. */
  async platformHealthSummary(platform: string): Promise<PlatformHealth> {
    const name = normalizePlatform(parseInput(platformInput, { platform }).platform)
    const { rates, resolution, period } = await this.#load()
    const rate = rates.find((one) => one.platform === name) ?? quietRate(name, period)
    const stability = stabilityOf(rate, resolution)
    return {
      ...rate,
      ...stability,
      ...(rate.occurrences === 0 ? { stability_score: null, status: 'quiet' } : {}),
      top_errors: await platformErrors(this.#context, await this.#errors(), name, LIMIT),
    }
  }

  /** The same type at the same place on two platforms or more, most occurrences first. */
  async crossPlatformErrors(): Promise<CrossPlatformError[]> {
    return crossPlatformErrors(this.#context, await this.#errors(), LIMIT)
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
    return this.#context.config.enable_platform_comparison ? this.#scope : { application_id: NO_APPLICATION }
  }

  /** Asked once, however many methods are called: they all tell of one moment. */
  #load(): Promise<PlatformFigures> {
    this.#figures ??= platformFigures(this.#context, this.#enabledScope(), this.#days).catch((error) => {
      this.#figures = null
      throw error
    })
    return this.#figures
  }
}
