import type * as v from 'valibot'
import type { Context } from '../../context.js'
import type { Scope } from '../../model/input/scope.js'
import { defineOperation } from '../../operation.js'
import { type ProblematicRelease, problematicReleases } from '../releases/problematic-releases.js'
import { type VersionErrors, versionErrors } from '../releases/version-errors.js'
import { lastDaysPeriod, type Period, type PeriodView, periodInput, periodView } from '../sums/period.js'
import { type CorrelatedTypes, timeCorrelation } from './time-correlation.js'
import { topUsers, type UserErrors } from './top-users.js'

export const CORRELATION_DAYS = 30
const MAX_USERS = 20

/**
 * Correlates the errors of the last days, including today, with versions, users and hours.
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

  constructor(
    context: Context,
    { days = CORRELATION_DAYS, application_id, environment }: v.InferOutput<typeof periodInput>,
  ) {
    this.#context = context
    this.#days = days
    this.#scope = { application_id, environment }
  }

  period(): Promise<PeriodView> {
    return this.#query(async (context, period) => periodView(period, context.now()))
  }

  /** Versions that reported errors, newest first, with occurrences, severities, errors and new errors. */
  errorsByVersion(): Promise<VersionErrors[]> {
    return this.#query((context, period) => versionErrors(context, this.#scope, period))
  }

  /** Releases that are worse than their predecessor: more occurrences per day, more severe, or more new errors. */
  problematicReleases(): Promise<ProblematicRelease[]> {
    return this.#query((context, period) => problematicReleases(context, this.#scope, period))
  }

  /** Users with at least two errors, most errors first. */
  multiErrorUsers(): Promise<UserErrors[]> {
    return this.#query(async (context, period) =>
      (await topUsers(context, this.#scope, period, MAX_USERS)).filter(({ error_count }) => error_count > 1),
    )
  }

  /** The 50 strongest pairs among the 100 most frequent error types whose hourly counts move together. */
  timeCorrelatedErrors(): Promise<CorrelatedTypes[]> {
    return this.#query((context, period) => timeCorrelation(context, this.#scope, period))
  }

  async #query<T>(query: (context: Context, period: Period) => Promise<T>): Promise<T> {
    return query(this.#context, lastDaysPeriod(this.#context, this.#days))
  }
}
