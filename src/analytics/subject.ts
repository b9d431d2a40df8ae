import type { Context } from '../context.js'

/** What a question is about: one error, or all of a type, on a platform or on all. */
export interface Subject {
  error_id?: number | undefined
  error_type?: string | undefined
  platform?: string | undefined
  application_id?: number | undefined
}

/** Groups of one type are many only where messages differ endlessly; the newest of them tell enough. */
const MOST_ERRORS = 1000
const MOST_TIMES = 20_000

export async function subjectIds(
  { database }: Context,
  { error_id, error_type, application_id }: Subject,
): Promise<number[]> {
  const rows = await database.read
    .selectFrom('faultboard_errors')
    .select('id')
    .$if(error_id !== undefined, (query) => query.where('id', '=', error_id ?? 0))
    .$if(error_type !== undefined, (query) => query.where('error_type', '=', error_type ?? ''))
    .$if(application_id !== undefined, (query) => query.where('application_id', '=', application_id ?? 0))
    .orderBy('id', 'desc')
    .limit(MOST_ERRORS)
    .execute()
  return rows.map(({ id }) => id)
}

/** When it occurred since then, oldest first; of very many the newest. Only occurrences that are kept have a time. */
export async function occurrenceTimes(context: Context, subject: Subject, from: number): Promise<number[]> {
  const ids = await subjectIds(context, subject)
  if (ids.length === 0) return []
  const rows = await context.database.read
    .selectFrom('faultboard_occurrences')
    .select('occurred_at')
    .where('error_id', 'in', ids)
    .where('occurred_at', '>=', from)
    .$if(subject.platform !== undefined, (query) => query.where('platform', '=', subject.platform ?? ''))
    .orderBy('occurred_at', 'desc')
    .limit(MOST_TIMES)
    .execute()
  return rows.map(({ occurred_at }) => occurred_at).reverse()
}
