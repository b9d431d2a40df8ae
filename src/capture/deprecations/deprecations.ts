import { FrequentNames } from '../../model/frequent-names.js'
import { OTHERS } from '../../model/guard-kinds.js'
import { cleanText } from '../../model/text.js'
import { hourOf } from '../../model/time.js'
import type { HourCounts } from '../../store/hour-counts.js'
import { DEPRECATION_HOURS } from '../../store/hour-tables.js'
import { callingPlace, placeIn } from '../calling-place.js'
import type { CaptureContext } from '../capture-context.js'

export interface Deprecation {
  message: string
  code?: string | undefined
  /** Where it was noticed; left out, it is being noticed now. */
  stack?: string | undefined
}

const MOST_MESSAGES = 200
/** More than is kept: the filter could not tell half of a secret. */
const READ_LENGTH = 2000

/** Counts what Node.js, libraries and the host itself call deprecated. */
export class Deprecations {
  readonly #context: CaptureContext
  readonly #counts: HourCounts<'code' | 'message' | 'place' | 'app_version', 'count' | 'first_seen_at' | 'last_seen_at'>
  #hour = 0
  #messages = new FrequentNames(MOST_MESSAGES)

  constructor(context: CaptureContext) {
    this.#context = context
    this.#counts = context.tallies.of(DEPRECATION_HOURS, {
      title: 'deprecations',
      others: ({ app_version }) => ({ code: '', message: OTHERS, place: '', app_version }),
    })
  }

  note({ message, code = '', stack }: Deprecation): void {
    const { config, now, redactor } = this.#context
    const time = now()
    if (hourOf(time) !== this.#hour) this.#messages = new FrequentNames(MOST_MESSAGES)
    this.#hour = hourOf(time)
    const text = redactor.text(cleanText(message.split('\n', 1)[0] ?? '', READ_LENGTH))
    const app_version = config.app_version ?? ''
    const names = this.#messages.admits(`${code} ${text}`)
      ? { code, message: text, place: this.#placeOf(stack, message), app_version }
      : { code: '', message: OTHERS, place: '', app_version }
    this.#counts.add(names, { count: 1, first_seen_at: time, last_seen_at: time })
  }

  /** A line that the host or a library printed, which may be about something deprecated. */
  noteLine(text: string): void {
    if (DEPRECATED.test(text)) this.note({ message: text })
  }

  #placeOf(stack: string | undefined, message: string): string {
    return stack === undefined
      ? callingPlace(this.#context)
      : placeIn(stack, message, this.#context, { libraries: true })
  }
}

const DEPRECATED = /\bdeprecat(?:ed|ion)\b/i
