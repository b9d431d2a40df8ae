import type * as v from 'valibot'
import type { Context } from '../../context.js'
import { defineOperation } from '../../operation.js'
import { type ProblematicRelease, problematicReleases } from '../releases/problematic-releases.js'
import { type VersionErrors, versionErrors } from '../releases/version-errors.js'
import type { Scope } from '../sums/application-filter.js'
import { type Period, type PeriodView, periodInput, periodOf, periodView } from '../sums/period.js'
import { type CorrelatedTypes, timeCorrelation } from './time-correlation.js'
import { topUsers, type UserErrors } from './top-users.js'

export const CORRELATION_DAYS = 30
const USERS = 20

/**
 * Finds what errors of the last days, including today, have in common: versions, users and hours.
 *
 * @example
 * const correlation = new Tracker.Queries.ErrorCorrelation({ days: 30 })
 * const releases = await correlation.problematicReleases()
 */
export const correlateErrors = defineOperation({
  input: periodInput,
  run: async (context, input) => new ErrorCorrelation(context, input),
})

export class ErrorCorrelation {
  readonly #context: Context
  readonly #days: number
  readonly #scope: Scope

  constructor(context: Context, { days = CORRELATION_DAYS, application_id }: v.InferOutput<typeof periodInput>) {
    this.#context = context
    this.#days = days
    this.#scope = { application_id }
  }

  period(): Promise<PeriodView> {
    return this.#ask(async (context, period) => periodView(period, context.now()))
  }

  /** The versions that reported, newest first, each with its occurrences, severities, errors and new errors. */
  errorsByVersion(): Promise<VersionErrors[]> {
    return this.#ask((context, period) => versionErrors(context, this.#scope, period))
  }

  /** Releases that do worse than the release before: more occurrences a day, more severe, or more new errors. */
  problematicReleases(): Promise<ProblematicRelease[]> {
    return this.#ask((context, period) => problematicReleases(context, this.#scope, period))
  }

  /** Users who met two errors or more, most errors first. */
  multiErrorUsers(): Promise<UserErrors[]> {
    return this.#ask(async (context, period) =>
      (await topUsers(context, this.#scope, period, USERS)).filter(({ error_count }) => error_count > 1),
    )
  }

  /** The 50 strongest pairs among the 100 most frequent error types whose hourly counts move together. */
  timeCorrelatedErrors(): Promise<CorrelatedTypes[]> {
    return this.#ask((context, period) => timeCorrelation(context, this.#scope, period))
  }

  async #ask<T>(question: (context: Context, period: Period) => Promise<T>): Promise<T> {
    return question(this.#context, periodOf(this.#context, this.#days))
  }
}
