import type { Context } from '../../context.js'
import type { Identity } from '../../model/people/identity.js'
import { HOUR } from '../../model/time.js'
import { MAX_KNOWN_PEOPLE, recordPeople, type SeenPerson } from '../../people/known-people.js'

/** Moves the write out of the response, and combines people who sign in at the same time. */
const WRITE_DELAY_MS = 200

/** Stores the people who sign in, each at most once an hour. */
export class SeenPeople {
  readonly #context: Context
  /** Times of the last writes by name. */
  readonly #recorded = new Map<string, number>()
  readonly #unwritten = new Map<string, SeenPerson>()
  #timer: NodeJS.Timeout | null = null

  constructor(context: Context) {
    this.#context = context
  }

  /** Called with every request. Never throws and never waits. */
  add({ name, email, kind, is_shared }: Identity): void {
    if (kind === 'token' || is_shared) return
    const time = this.#context.now()
    if (time - (this.#recorded.get(name) ?? Number.NEGATIVE_INFINITY) < HOUR) return
    if (!this.#recorded.has(name) && !this.#hasRoom(time)) return
    this.#recorded.set(name, time)
    this.#unwritten.set(name, { name, email })
    this.#timer ??= setTimeout(() => this.#write(), WRITE_DELAY_MS).unref()
  }

  close(): void {
    if (this.#timer) clearTimeout(this.#timer)
  }

  /** Bounds memory and writes if `authenticate` returns a new name with every request. */
  #hasRoom(time: number): boolean {
    if (this.#recorded.size < MAX_KNOWN_PEOPLE) return true
    for (const [name, recordedAt] of this.#recorded) if (time - recordedAt >= HOUR) this.#recorded.delete(name)
    return this.#recorded.size < MAX_KNOWN_PEOPLE
  }

  #write(): void {
    const people = [...this.#unwritten.values()]
    this.#unwritten.clear()
    this.#timer = null
    // Ignored, because the next request after an hour writes again.
    recordPeople(this.#context, people, this.#context.now()).catch(() => {})
  }
}
