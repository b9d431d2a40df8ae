import type { Context } from '../context.js'
import type { Database } from '../store/database.js'

/** What took less is simply asked again, on a database that is not large. */
const QUICK_MS = 50
/** With so many errors, answers about all of them are not sought for every visit, whatever the machine. */
const MANY_ERRORS = 5000
/** So long an answer is as good as new; so long it is still shown while a newer one is being found. */
const FRESH_MS = 60_000
const STALE_MS = 10 * 60_000
const MOST_ANSWERS = 500

export interface Answer<T> {
  value: T
  /** When it was found, by the tracker's clock. */
  asked_at: number
}

/** When the oldest of the answers was found. */
export function oldestOf(answers: readonly (Answer<unknown> | null)[]): number {
  return Math.min(...answers.flatMap((answer) => answer?.asked_at ?? []))
}

interface Kept {
  answer: Answer<unknown> | null
  /** By the process's clock, which a tracker with a clock of its own does not stop. */
  found: number
  asking: Promise<Answer<unknown>> | null
}

const answers = new WeakMap<Database, Map<string, Kept>>()

/**
 * Asks for what may take long on a large database, for pages only: the answer is kept for a minute, and for some more
 * while a newer one is being found. On a small database every answer that does not take long is new. Visitors who ask
 * at the same time share one asking.
 */
export async function remembered<T>(context: Context, question: string, ask: () => Promise<T>): Promise<Answer<T>> {
  const all = answersOf(context.database)
  const kept = all.get(question) ?? { answer: null, found: 0, asking: null }
  const age = performance.now() - kept.found
  if (kept.answer && age < STALE_MS) {
    // The next visitor is told what is wrong with the database.
    if (age >= FRESH_MS) void renew(context, question, kept, ask).catch(() => all.delete(question))
    return kept.answer as Answer<T>
  }
  return renew(context, question, kept, ask)
}

async function renew<T>(context: Context, question: string, kept: Kept, ask: () => Promise<T>): Promise<Answer<T>> {
  const all = answersOf(context.database)
  kept.asking ??= (async () => {
    const started = performance.now()
    const asked_at = context.now()
    try {
      const answer = { value: await ask(), asked_at }
      kept.found = performance.now()
      const isKept = kept.found - started >= QUICK_MS || (await hasManyErrors(context.database))
      kept.answer = isKept ? answer : null
      return answer
    } finally {
      kept.asking = null
      if (!kept.answer) all.delete(question)
    }
  })()
  keep(all, question, kept)
  return kept.asking as Promise<Answer<T>>
}

/** Once there are many, it is not asked again: only a large deletion makes them few. */
const large = new WeakSet<Database>()

async function hasManyErrors(database: Database): Promise<boolean> {
  if (large.has(database)) return true
  const newest = await database.read
    .selectFrom('faultboard_errors')
    .select(({ fn }) => fn.max<number | null>('id').as('id'))
    .executeTakeFirst()
  if ((newest?.id ?? 0) < MANY_ERRORS) return false
  large.add(database)
  return true
}

function keep(all: Map<string, Kept>, question: string, kept: Kept): void {
  // Taken out and put in again, so that the one asked for longest ago is the first.
  all.delete(question)
  all.set(question, kept)
  const [oldest] = all.keys()
  if (all.size > MOST_ANSWERS && oldest !== undefined) all.delete(oldest)
}

function answersOf(database: Database): Map<string, Kept> {
  let all = answers.get(database)
  if (!all) {
    all = new Map()
    answers.set(database, all)
  }
  return all
}
