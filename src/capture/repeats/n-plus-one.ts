import { FrequentNames } from '../../model/frequent-names.js'
import { OTHERS } from '../../model/others.js'
import { isQuery, type Repeat, Repeats } from '../../model/repeats.js'
import { pathPattern } from '../../model/requests/path-pattern.js'
import { hourOf } from '../../model/time.js'
import type { HourCounts } from '../../store/counters/hour-counts.js'
import { STATEMENT_HOURS } from '../../store/counters/hour-tables.js'
import type { Trail } from '../breadcrumbs/breadcrumbs.js'
import { callingPlace } from '../caller-location.js'
import type { CaptureContext } from '../capture-context.js'
import { routeOf } from '../facts/request-facts.js'
import { guarded } from '../guarded.js'
import { StackBudget } from '../guards/stack-budget.js'
import { hasRoomToNote } from '../guards/stack-room.js'
import type { Scope } from '../scope.js'

const MOST_STATEMENTS = 200
const MOST_PLACES = 500
const STACKS_PER_SECOND = 50

/** Counts the statements of every request and job, and keeps those that ran again and again. */
export class NPlusOne {
  readonly #context: CaptureContext
  readonly #counts: HourCounts<
    'statement' | 'route' | 'place',
    'request_count' | 'statement_count' | 'worst_count' | 'duration_ms' | 'last_seen_at'
  >
  readonly #settle: (scope: Scope) => void
  #hour = 0
  #statements = new FrequentNames(MOST_STATEMENTS)
  #places = new FrequentNames(MOST_PLACES)
  readonly #stacks: StackBudget

  constructor(context: CaptureContext) {
    this.#context = context
    this.#counts = context.tallies.of(STATEMENT_HOURS, {
      title: 'repeated statements',
      others: () => ({ statement: OTHERS, route: OTHERS, place: '' }),
    })
    this.#stacks = new StackBudget(context.now, STACKS_PER_SECOND)
    this.#settle = guarded(context.counters, 'n_plus_one', (scope: Scope) => {
      if (hasRoomToNote()) this.#settleScope(scope)
    })
    context.scopes.onEnd = this.#settle
  }

  /** Counts a statement, which must hold no values, in the scope of its trail. */
  note({ scope }: Trail, statement: string): Repeat | null {
    if (!scope || !isQuery(statement)) return null
    scope.repeats ??= new Repeats()
    const { n_plus_one_threshold } = this.#context.config
    const repeat = scope.repeats.note(statement)
    if (!repeat || repeat.run < n_plus_one_threshold - 1) return repeat
    if (repeat.run >= n_plus_one_threshold) this.#found(scope, scope.repeats, repeat)
    scope.repeats.wants_caller = !repeat.place
    return repeat
  }

  /** A connection is asked for: with some drivers only here the host's own code is still on the stack. */
  asks({ scope }: Trail): void {
    const repeats = scope?.repeats
    if (!repeats?.wants_caller || !this.#stacks.allows()) return
    repeats.caller = callingPlace(this.#context)
    repeats.wants_caller = false
  }

  /** An error is recorded: a scope that nobody will see end is counted now. */
  errorIn(scope: Scope | undefined): void {
    if (scope?.repeats && !scope.ends) this.#settle(scope)
  }

  #found(scope: Scope, repeats: Repeats, repeat: Repeat): void {
    repeat.place ??= (this.#stacks.allows() && callingPlace(this.#context)) || repeats.caller
    if (repeats.is_awaited) return
    repeats.is_awaited = true
    // Comes after the last byte, and also when the client has gone before.
    scope.response?.once('close', () => this.#settle(scope))
  }

  #settleScope(scope: Scope): void {
    const { config, now, redactor } = this.#context
    const { repeats } = scope
    scope.repeats = null
    const found = repeats?.since(config.n_plus_one_threshold) ?? []
    if (found.length === 0) return
    const route = redactor.text(nameOf(scope))
    for (const { statement, place, count, duration_ms } of found) {
      this.#counts.add(this.#narrowed({ statement: redactor.text(statement), route, place: place ?? '' }), {
        request_count: 1,
        statement_count: count,
        worst_count: count,
        duration_ms: Math.round(duration_ms),
        last_seen_at: now(),
      })
    }
  }

  /** However many statements a host makes up, there are only so many rows an hour. */
  #narrowed(names: { statement: string; route: string; place: string }) {
    const hour = hourOf(this.#context.now())
    if (hour !== this.#hour) {
      this.#hour = hour
      this.#statements = new FrequentNames(MOST_STATEMENTS)
      this.#places = new FrequentNames(MOST_PLACES)
    }
    if (!this.#statements.admits(names.statement)) return { statement: OTHERS, route: OTHERS, place: '' }
    return this.#places.admits(JSON.stringify(names)) ? names : { ...names, route: OTHERS, place: '' }
  }
}

/** What a request asked for, or what the host calls its job. */
function nameOf({ request, tags }: Scope): string {
  if (request) return `${request.method} ${routeOf(request) ?? pathPattern(request.originalUrl ?? request.url ?? '')}`
  const job = tags?.job ?? tags?.queue
  return typeof job === 'string' ? `job ${job}` : ''
}
