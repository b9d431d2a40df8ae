import type { RecordedBreadcrumb } from '../../capture/breadcrumbs/breadcrumb.js'
import type { BreadcrumbObserver } from '../../capture/breadcrumbs/breadcrumbs.js'
import { callingPlace } from '../../capture/caller-location.js'
import type { CaptureContext } from '../../capture/capture-context.js'
import { matchedRoutePath } from '../../capture/facts/request-facts.js'
import { guarded } from '../../capture/guarded.js'
import { StackBudget } from '../../capture/guards/stack-budget.js'
import { hasRoomForBreadcrumb } from '../../capture/guards/stack-room.js'
import { addHook } from '../../capture/hooks.js'
import type { Scope, Trail } from '../../capture/scope.js'
import { readOptions, type ValuesOf } from '../../config/options.js'
import { FrequentNames, OTHERS } from '../../model/frequent-names.js'
import { pathPattern } from '../../model/requests/path-pattern.js'
import { breadcrumbStatement } from '../../model/sql/breadcrumb-statement.js'
import { isQuery, type StatementRepeat, StatementRepeats } from '../../model/sql/statement-repeats.js'
import { startOfHour } from '../../model/time.js'
import type { HourCounts } from '../../store/counters/hour-counts.js'
import { STATEMENT_HOURS } from './hours.js'
import { nPlusOneOptions } from './options.js'

/** Limits on the rows of one hour, so that generated statements cannot flood the table. */
const MAX_STATEMENTS = 200
const MAX_CALLERS = 500
/** Reading a stack takes about 20 µs. */
const MAX_STACKS_PER_SECOND = 50

/** Names of all statements beyond the limits. */
const COMBINED = { statement: OTHERS, route: OTHERS, place: '' }

/** Counts the statements of each request and job until the tracker stops. */
export function collectRepeatedStatements(context: CaptureContext): () => void {
  const counter = new StatementCounter(context)
  const removals = [
    addHook(context.breadcrumbs.observers, counter),
    addHook(context.scopes.onEnd, counter.settle),
    addHook(context.hooks.onReport, (scope) => counter.errorReported(scope)),
  ]
  return () => {
    for (const remove of removals) remove()
  }
}

/** Counts the statements of every request and job, and stores those that were repeated. */
class StatementCounter implements BreadcrumbObserver {
  readonly #context: CaptureContext
  readonly #options: ValuesOf<typeof nPlusOneOptions>
  readonly #counts: HourCounts<
    'environment' | 'statement' | 'route' | 'place',
    'request_count' | 'statement_count' | 'worst_count' | 'duration_ms' | 'last_seen_at'
  >
  readonly #repeats = new WeakMap<Scope, StatementRepeats>()
  readonly #stacks: StackBudget
  #hour = 0
  #statements = new FrequentNames(MAX_STATEMENTS)
  #callers = new FrequentNames(MAX_CALLERS)

  /** Stores the repeated statements of a scope that ended. */
  readonly settle: (scope: Scope) => void
  /** Counts a statement that the host added as a breadcrumb. */
  readonly added: (crumb: RecordedBreadcrumb, trail: Trail) => void

  constructor(context: CaptureContext) {
    this.#context = context
    this.#options = readOptions(context.config, nPlusOneOptions)
    this.#counts = context.tallies.forTable(STATEMENT_HOURS, {
      title: 'repeated statements',
      overflowNames: COMBINED,
    })
    this.#stacks = new StackBudget(context.now, MAX_STACKS_PER_SECOND)
    this.settle = guarded(context.counters, 'n_plus_one', (scope: Scope) => {
      if (hasRoomForBreadcrumb()) this.#settleScope(scope)
    })
    this.added = guarded(context.counters, 'breadcrumb', (crumb: RecordedBreadcrumb, trail: Trail) => {
      if (crumb.category !== 'sql' || !hasRoomForBreadcrumb()) return
      const repeat = this.#count(trail, breadcrumbStatement(crumb))
      if (repeat) repeat.duration_ms += statementDuration(crumb)
    })
  }

  /** Counts a statement of an instrumented driver, which contains no values. */
  started({ category, message }: RecordedBreadcrumb, trail: Trail): StatementRepeat | null {
    return category === 'sql' ? this.#count(trail, message) : null
  }

  /** Reads the caller here, because some drivers have lost the host's stack when the statement starts. */
  connecting({ scope }: Trail): void {
    const repeats = scope && this.#repeats.get(scope)
    if (!repeats?.shouldRecordCaller || !this.#stacks.take()) return
    repeats.caller = callingPlace(this.#context)
    repeats.shouldRecordCaller = false
  }

  /** Settles a scope whose end is never observed. */
  errorReported(scope: Scope | undefined): void {
    if (scope && !scope.hasEnd && this.#repeats.has(scope)) this.settle(scope)
  }

  #count({ scope }: Trail, statement: string): StatementRepeat | null {
    if (!scope || !isQuery(statement)) return null
    const repeats = this.#repeatsOf(scope)
    const { n_plus_one_threshold } = this.#options
    const repeat = repeats.add(statement)
    if (!repeat || repeat.run < n_plus_one_threshold - 1) return repeat
    if (repeat.run >= n_plus_one_threshold) this.#found(scope, repeats, repeat)
    repeats.shouldRecordCaller = !repeat.place
    return repeat
  }

  #repeatsOf(scope: Scope): StatementRepeats {
    let repeats = this.#repeats.get(scope)
    if (!repeats) {
      repeats = new StatementRepeats()
      this.#repeats.set(scope, repeats)
    }
    return repeats
  }

  #found(scope: Scope, repeats: StatementRepeats, repeat: StatementRepeat): void {
    repeat.place ??= (this.#stacks.take() && callingPlace(this.#context)) || repeats.caller
    if (repeats.isAwaited) return
    repeats.isAwaited = true
    // `close` also fires when the client disconnects before the last byte.
    scope.response?.once('close', () => this.settle(scope))
  }

  #settleScope(scope: Scope): void {
    const { config, now, redactor } = this.#context
    const repeats = this.#repeats.get(scope)
    this.#repeats.delete(scope)
    const found = repeats?.repeatedAtLeast(this.#options.n_plus_one_threshold) ?? []
    if (found.length === 0) return
    const route = redactor.text(routeName(scope))
    for (const { statement, place, count, duration_ms } of found) {
      const names = this.#combineExcessNames({ statement: redactor.text(statement), route, place: place ?? '' })
      this.#counts.add(
        { environment: config.environment, ...names },
        {
          request_count: 1,
          statement_count: count,
          worst_count: count,
          duration_ms: Math.round(duration_ms),
          last_seen_at: now(),
        },
      )
    }
  }

  /** Combines the statements and callers beyond the limits of the hour. */
  #combineExcessNames(names: { statement: string; route: string; place: string }) {
    const hour = startOfHour(this.#context.now())
    if (hour !== this.#hour) {
      this.#hour = hour
      this.#statements = new FrequentNames(MAX_STATEMENTS)
      this.#callers = new FrequentNames(MAX_CALLERS)
    }
    if (!this.#statements.admits(names.statement)) return COMBINED
    return this.#callers.admits(JSON.stringify(names)) ? names : { ...names, route: OTHERS, place: '' }
  }
}

/** The method and route of a request, or the name of a job. */
function routeName({ request, tags }: Scope): string {
  if (request)
    return `${request.method} ${matchedRoutePath(request) ?? pathPattern(request.originalUrl ?? request.url ?? '')}`
  const job = tags?.job ?? tags?.queue
  return typeof job === 'string' ? `job ${job}` : ''
}

function statementDuration({ duration_ms = 0 }: RecordedBreadcrumb): number {
  return Number.isFinite(duration_ms) && duration_ms > 0 ? duration_ms : 0
}
