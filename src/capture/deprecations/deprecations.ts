import { FrequentNames } from '../../model/frequent-names.js'
import { OTHERS } from '../../model/others.js'
import { cleanText } from '../../model/text.js'
import { hourOf } from '../../model/time.js'
import type { HourCounts } from '../../store/counters/hour-counts.js'
import { DEPRECATION_HOURS } from '../../store/counters/hour-tables.js'
import { callingPlace, placeIn } from '../caller-location.js'
import type { CaptureContext } from '../capture-context.js'
import { StackBudget } from '../guards/stack-budget.js'

export interface Deprecation {
  message: string
  code?: string | undefined
  /** Where it was noticed, to be read only if it is wanted; left out, it is being noticed now. */
  stack?: (() => string) | undefined
}

const MOST_MESSAGES = 200
/** More than is kept: the filter could not tell half of a secret. */
const READ_LENGTH = 2000
/** Beside those of N+1 queries: a host that warns in a loop must not use up what finds them. */
const STACKS_PER_SECOND = 50

/** Counts what Node.js, libraries and the host itself call deprecated. */
export class Deprecations {
  readonly #context: CaptureContext
  readonly #counts: HourCounts<'code' | 'message' | 'place' | 'app_version', 'count' | 'first_seen_at' | 'last_seen_at'>
  #hour = 0
  #messages = new FrequentNames(MOST_MESSAGES)
  /** Where each message was last noticed. */
  readonly #places = new Map<string, string>()
  /** Filtering costs as much as the rest, and the same lines come again and again. */
  readonly #filtered = new Map<string, string>()
  readonly #stacks: StackBudget

  constructor(context: CaptureContext) {
    this.#context = context
    this.#stacks = new StackBudget(context.now, STACKS_PER_SECOND)
    this.#counts = context.tallies.of(DEPRECATION_HOURS, {
      title: 'deprecations',
      others: ({ app_version }) => ({ code: '', message: OTHERS, place: '', app_version }),
    })
  }

  note({ message, code = '', stack }: Deprecation): void {
    const { config, now } = this.#context
    const time = now()
    if (hourOf(time) !== this.#hour) {
      this.#hour = hourOf(time)
      this.#messages = new FrequentNames(MOST_MESSAGES)
      this.#places.clear()
    }
    const text = this.#filter(cleanText(message.split('\n', 1)[0] ?? '', READ_LENGTH))
    const key = `${code} ${text}`
    const app_version = config.app_version ?? ''
    const names = this.#messages.admits(key)
      ? { code, message: text, place: this.#placeOf(key, message, stack), app_version }
      : { code: '', message: OTHERS, place: '', app_version }
    this.#counts.add(names, { count: 1, first_seen_at: time, last_seen_at: time })
  }

  /** A line that the host or a library printed, which may be about something deprecated. */
  noteLine(text: string): void {
    if (DEPRECATED.test(text)) this.note({ message: text })
  }

  /** Beyond what may be read in a second, it is taken to come from where it came from last. */
  #placeOf(key: string, message: string, stack: (() => string) | undefined): string {
    if (!this.#stacks.allows()) return this.#places.get(key) ?? ''
    const place = stack ? placeIn(stack(), message, this.#context, { libraries: true }) : callingPlace(this.#context)
    this.#places.set(key, place)
    return place
  }

  #filter(text: string): string {
    const known = this.#filtered.get(text)
    if (known !== undefined) return known
    const filtered = this.#context.redactor.text(text)
    if (this.#filtered.size >= MOST_MESSAGES) this.#filtered.clear()
    this.#filtered.set(text, filtered)
    return filtered
  }
}

const DEPRECATED = /\bdeprecat(?:ed|ion)\b/i
