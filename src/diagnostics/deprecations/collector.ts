import type { RecordedBreadcrumb } from '../../capture/breadcrumbs/breadcrumb.js'
import { callingPlace, placeIn } from '../../capture/caller-location.js'
import type { CaptureContext } from '../../capture/capture-context.js'
import { guarded } from '../../capture/guarded.js'
import { StackBudget } from '../../capture/guards/stack-budget.js'
import { hasRoomForBreadcrumb } from '../../capture/guards/stack-room.js'
import { addHook } from '../../capture/hooks.js'
import { FrequentNames, OTHERS } from '../../model/frequent-names.js'
import { cleanText } from '../../model/text.js'
import { startOfHour } from '../../model/time.js'
import type { HourCounts } from '../../store/counters/hour-counts.js'
import { DEPRECATION_HOURS } from './hours.js'

interface Deprecation {
  message: string
  code?: string | undefined
  /** The stack of the warning. Without it, the current stack is used. */
  stack?: (() => string) | undefined
}

/** Limits the rows of one hour. */
const MAX_MESSAGES = 200
/** Longer than the stored text, because redaction needs to see a whole secret. */
const MAX_READ_LENGTH = 2000
/** Separate from the budget of N+1 queries, so that a warning in a loop does not use it up. */
const MAX_STACKS_PER_SECOND = 50

/** Names of all messages beyond the limits. */
const COMBINED = { code: '', message: OTHERS, place: '' }

const DEPRECATED = /\bdeprecat(?:ed|ion)\b/i

/** Counts deprecation warnings of Node.js, libraries and the host until the tracker stops. */
export function collectDeprecations(context: CaptureContext): () => void {
  const counter = new DeprecationCounter(context)
  const added = guarded(context.counters, 'breadcrumb', (crumb: RecordedBreadcrumb) => {
    if (hasRoomForBreadcrumb()) counter.countBreadcrumb(crumb)
  })
  const removals = [
    addHook(context.breadcrumbs.observers, { added }),
    addHook(context.hooks.onWarning, ({ name, ...warning }) => {
      if (name === 'DeprecationWarning') counter.count(warning)
    }),
  ]
  return () => {
    for (const remove of removals) remove()
  }
}

export class DeprecationCounter {
  readonly #context: CaptureContext
  readonly #counts: HourCounts<
    'environment' | 'code' | 'message' | 'place' | 'app_version',
    'count' | 'first_seen_at' | 'last_seen_at'
  >
  readonly #stacks: StackBudget
  #hour = 0
  #messages = new FrequentNames(MAX_MESSAGES)
  /** The last known location of each message. */
  readonly #locations = new Map<string, string>()
  /** Cached, because redaction is the slowest step and messages repeat. */
  readonly #redacted = new Map<string, string>()

  constructor(context: CaptureContext) {
    this.#context = context
    this.#stacks = new StackBudget(context.now, MAX_STACKS_PER_SECOND)
    this.#counts = context.tallies.forTable(DEPRECATION_HOURS, {
      title: 'deprecations',
      overflowNames: COMBINED,
    })
  }

  count({ message, code = '', stack }: Deprecation): void {
    const { config, now } = this.#context
    const time = now()
    if (startOfHour(time) !== this.#hour) {
      this.#hour = startOfHour(time)
      this.#messages = new FrequentNames(MAX_MESSAGES)
      this.#locations.clear()
    }
    const text = this.#redact(cleanText(message.split('\n', 1)[0] ?? '', MAX_READ_LENGTH))
    const key = `${code} ${text}`
    const names = this.#messages.admits(key)
      ? { code, message: text, place: this.#locationOf(key, message, stack) }
      : COMBINED
    const { environment, app_version } = config
    this.#counts.add(
      { environment, app_version: app_version ?? '', ...names },
      { count: 1, first_seen_at: time, last_seen_at: time },
    )
  }

  /** Counts deprecations that the host reports as breadcrumbs, and console warnings that mention a deprecation. */
  countBreadcrumb(crumb: RecordedBreadcrumb): void {
    if (crumb.category === 'deprecation') {
      this.count({ message: crumb.message, code: deprecationCode(crumb) })
    } else if (crumb.category === 'console') {
      const level = crumb.metadata?.level
      const isWarning = level === 'warn' || level === 'error'
      if (isWarning && DEPRECATED.test(crumb.message)) this.count({ message: crumb.message })
    }
  }

  /** Uses the last known location when the stack budget is exhausted. */
  #locationOf(key: string, message: string, stack: (() => string) | undefined): string {
    if (!this.#stacks.take()) return this.#locations.get(key) ?? ''
    const location = stack
      ? placeIn(stack(), message, this.#context, { includeLibraries: true })
      : callingPlace(this.#context)
    this.#locations.set(key, location)
    return location
  }

  #redact(text: string): string {
    const cached = this.#redacted.get(text)
    if (cached !== undefined) return cached
    const redacted = this.#context.redactor.text(text)
    if (this.#redacted.size >= MAX_MESSAGES) this.#redacted.clear()
    this.#redacted.set(text, redacted)
    return redacted
  }
}

function deprecationCode({ metadata }: RecordedBreadcrumb): string | undefined {
  const code: unknown = metadata && Object.getOwnPropertyDescriptor(metadata, 'code')?.value
  return typeof code === 'string' ? code : undefined
}
