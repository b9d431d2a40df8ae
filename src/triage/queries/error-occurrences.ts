import type { Context } from '../../context.js'
import { TrackerError } from '../../model/errors.js'
import type { Cause } from '../../model/event.js'
import type { Selectable } from '../../store/kysely.js'
import type { ErrorRow } from '../../store/lock.js'
import type { OccurrencesTable } from '../../store/schema.js'
import type { Occurrence, OccurrencesPagination, SelectedOccurrence } from './error-record.js'
import { occurrenceOf } from './occurrence.js'

/** `max_occurrences_per_error` may be a million; nobody pages through more than this, and counting them would cost. */
const COUNTED = 10_000

type ErrorOfOccurrences = Pick<ErrorRow, 'id' | 'message' | 'first_message'>

export interface Selection {
  occurrence: SelectedOccurrence | null
  payload: Payload
}

export interface Payload {
  backtrace: string[]
  causes: Cause[]
  signature_place: string[] | null
}

const NO_PAYLOAD: Payload = { backtrace: [], causes: [], signature_place: null }

/** The occurrence that is asked for, else the newest, with its stack and the ids of those beside it. */
export async function selectedOccurrence(
  context: Context,
  error: ErrorOfOccurrences,
  occurrence_id: number | undefined,
): Promise<Selection> {
  const row = await occurrenceRow(context, error.id, occurrence_id)
  if (!row && occurrence_id !== undefined) {
    throw new TrackerError(
      'not_found',
      `Error ${error.id} has no occurrence with the id ${occurrence_id}; only the newest ones are kept.`,
    )
  }
  if (!row) return { occurrence: null, payload: NO_PAYLOAD }
  return {
    occurrence: {
      ...occurrenceOf(row, error.first_message ?? error.message),
      previous_id: await neighbour(context, row, 'older'),
      next_id: await neighbour(context, row, 'newer'),
      position: await positionOf(context, row),
    },
    payload: await payload(context, row.payload_id),
  }
}

/** The occurrences that are kept, newest first; a page past the end is the last. */
export async function occurrencesPage(
  context: Context,
  error: ErrorOfOccurrences,
  wanted: { page: number; per_page: number },
): Promise<{ occurrences: Occurrence[]; occurrences_pagination: OccurrencesPagination }> {
  const { per_page } = wanted
  const kept = await bounded(context, ofError(context, error.id))
  const total_count = Math.min(kept, COUNTED)
  const total_pages = Math.max(1, Math.ceil(total_count / per_page))
  const page = Math.min(wanted.page, total_pages)
  const rows = await ofError(context, error.id)
    .selectAll()
    .orderBy('occurred_at', 'desc')
    .orderBy('id', 'desc')
    .limit(per_page)
    .offset((page - 1) * per_page)
    .execute()
  return {
    occurrences: rows.map((row) => occurrenceOf(row, error.first_message ?? error.message)),
    occurrences_pagination: {
      page,
      per_page,
      total_count,
      total_pages,
      ...(kept > COUNTED ? { total_is_bound: true as const } : {}),
    },
  }
}

type OccurrenceRow = Selectable<OccurrencesTable>

function ofError({ database }: Context, error_id: number) {
  return database.read.selectFrom('faultboard_occurrences').where('error_id', '=', error_id)
}

function occurrenceRow(
  context: Context,
  error_id: number,
  occurrence_id: number | undefined,
): Promise<OccurrenceRow | undefined> {
  const rows = ofError(context, error_id).selectAll()
  if (occurrence_id !== undefined) return rows.where('id', '=', occurrence_id).executeTakeFirst()
  return rows.orderBy('occurred_at', 'desc').orderBy('id', 'desc').limit(1).executeTakeFirst()
}

type Side = 'older' | 'newer'

/** Those on one side of an occurrence, in the order in which they are shown. */
function beside(context: Context, { error_id, occurred_at, id }: OccurrenceRow, side: Side) {
  const sign = side === 'older' ? '<' : '>'
  return (
    ofError(context, error_id)
      // Follows from what comes after it, and lets the index do the most of it.
      .where('occurred_at', side === 'older' ? '<=' : '>=', occurred_at)
      .where(({ and, eb, or }) =>
        or([eb('occurred_at', sign, occurred_at), and([eb('occurred_at', '=', occurred_at), eb('id', sign, id)])]),
      )
  )
}

async function neighbour(context: Context, row: OccurrenceRow, side: Side): Promise<number | null> {
  const direction = side === 'older' ? 'desc' : 'asc'
  const found = await beside(context, row, side)
    .select('id')
    .orderBy('occurred_at', direction)
    .orderBy('id', direction)
    .limit(1)
    .executeTakeFirst()
  return found?.id ?? null
}

async function positionOf(context: Context, row: OccurrenceRow): Promise<number | null> {
  const newer = await bounded(context, beside(context, row, 'newer'))
  return newer > COUNTED ? null : newer + 1
}

/** How many rows there are; one more than `COUNTED` means "more than that". */
async function bounded({ database }: Context, rows: ReturnType<typeof ofError>): Promise<number> {
  const { total } = await database.read
    .selectFrom(
      rows
        .select('id')
        .limit(COUNTED + 1)
        .as('counted'),
    )
    .select(({ fn }) => fn.countAll<number>().as('total'))
    .executeTakeFirstOrThrow()
  return Number(total)
}

async function payload({ database }: Context, payload_id: number): Promise<Payload> {
  const row = await database.read
    .selectFrom('faultboard_payloads')
    .select('content')
    .where('id', '=', payload_id)
    .executeTakeFirst()
  return row ? { ...NO_PAYLOAD, ...JSON.parse(row.content) } : NO_PAYLOAD
}
