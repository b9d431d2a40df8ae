import type * as v from 'valibot'
import type { Context } from '../context.js'
import { isoTime } from '../model/time.js'
import { sql } from '../store/kysely.js'
import type { ErrorRow } from '../store/sql/row-locks.js'
import type { errorPartLine } from './record.js'

type Line = v.InferInput<typeof errorPartLine>
type Rows = Pick<Line, 'users' | 'payloads' | 'occurrences'>

const USERS_PER_LINE = 1000
const OCCURRENCES_PER_LINE = 100

/** Users and occurrences of an error in parts of bounded size. Yields at least one part. */
export async function* exportedParts(
  context: Context,
  error: Pick<ErrorRow, 'id' | 'message' | 'first_message'>,
): AsyncGenerator<Rows> {
  const { id: error_id } = error
  let [users, occurrences]: [string | null, Cursor | null] = ['', { occurred_at: 0, id: 0 }]
  let isFirstPart = true
  while (isFirstPart || users !== null || occurrences !== null) {
    const userPart: UserPart = users === null ? { rows: [], last: null } : await usersAfter(context, error_id, users)
    const occurrencePart: OccurrencePart =
      occurrences === null
        ? { rows: [], payloads: [], last: null }
        : await occurrencesAfter(context, error, occurrences)
    if (isFirstPart || userPart.rows.length + occurrencePart.rows.length > 0) {
      yield { users: userPart.rows, payloads: occurrencePart.payloads, occurrences: occurrencePart.rows }
    }
    ;[users, occurrences, isFirstPart] = [userPart.last, occurrencePart.last, false]
  }
}

interface UserPart {
  rows: Line['users']
  last: string | null
}

async function usersAfter({ database }: Context, error_id: number, after: string): Promise<UserPart> {
  const rows = await database.read
    .selectFrom('faultboard_error_users')
    .select(['user_id', 'count', 'first_seen_at', 'last_seen_at'])
    .where('error_id', '=', error_id)
    .$if(after !== '', (query) => query.where('user_id', '>', after))
    .orderBy('user_id')
    .limit(USERS_PER_LINE)
    .execute()
  return {
    rows: rows.map((row) => ({
      ...row,
      first_seen_at: isoTime(row.first_seen_at),
      last_seen_at: isoTime(row.last_seen_at),
    })),
    last: rows.length < USERS_PER_LINE ? null : (rows.at(-1)?.user_id ?? null),
  }
}

interface Cursor {
  occurred_at: number
  id: number
}

interface OccurrencePart {
  rows: Line['occurrences']
  payloads: Line['payloads']
  last: Cursor | null
}

async function occurrencesAfter(
  { database }: Context,
  { id, message, first_message }: Pick<ErrorRow, 'id' | 'message' | 'first_message'>,
  after: Cursor,
): Promise<OccurrencePart> {
  const { read } = database
  const rows = await read
    .selectFrom('faultboard_occurrences')
    .selectAll()
    .where('error_id', '=', id)
    // Repeats the bound outside of `or`, so that the database can use the index.
    .where('occurred_at', '>=', after.occurred_at)
    .where(({ eb, or }) => or([eb('occurred_at', '>', after.occurred_at), eb('id', '>', after.id)]))
    .orderBy('occurred_at')
    .orderBy('id')
    .limit(OCCURRENCES_PER_LINE)
    .execute()
  const ids = [...new Set(rows.map(({ payload_id }) => payload_id))]
  const payloads =
    ids.length === 0
      ? []
      : await read
          .selectFrom('faultboard_payloads')
          .select(['id', 'content'])
          .where(sql<boolean>`id in (${sql.join(ids)})`)
          .execute()
  const payloadIndexes = new Map(payloads.map(({ id }, index) => [id, index]))
  const withPayload = rows.filter(({ payload_id }) => payloadIndexes.has(payload_id))
  return {
    payloads: payloads.map(({ content }) => JSON.parse(content)),
    rows: withPayload.map(({ id, error_id, payload_id, occurred_at, context, ...row }) => ({
      payload: payloadIndexes.get(payload_id) ?? 0,
      occurred_at: isoTime(occurred_at),
      ...row,
      message: row.message ?? first_message ?? message,
      context: context === null ? null : JSON.parse(context),
    })),
    last: rows.length < OCCURRENCES_PER_LINE ? null : (rows.at(-1) ?? null),
  }
}
