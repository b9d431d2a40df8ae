import type { Context } from '../../context.js'
import { TrackerError } from '../../model/errors.js'
import type { Cause } from '../../model/event.js'
import type { Pagination } from '../../model/result.js'
import type { Selectable } from '../../store/kysely.js'
import type { OccurrencesTable } from '../../store/schema.js'
import type { ErrorRow } from '../../store/sql/row-locks.js'
import type { Occurrence, SelectedOccurrence } from './error-record.js'
import { toOccurrence } from './occurrence.js'

/** Maximum number of occurrences to count and page through. `max_occurrences_per_error` may be a million. */
const MAX_COUNTED = 10_000

type OccurrenceParent = Pick<ErrorRow, 'id' | 'message' | 'first_message'>

export interface OccurrenceSelection {
  occurrence: SelectedOccurrence | null
  payload: OccurrencePayload
}

export interface OccurrencePayload {
  backtrace: string[]
  causes: Cause[]
  signature_place: string[] | null
}

const EMPTY_PAYLOAD: OccurrencePayload = { backtrace: [], causes: [], signature_place: null }

/** Returns the requested or the newest occurrence, with its stack and the ids of its neighbors. */
export async function selectedOccurrence(
  context: Context,
  error: OccurrenceParent,
  occurrence_id: number | undefined,
): Promise<OccurrenceSelection> {
  const row = await findOccurrence(context, error.id, occurrence_id)
  if (!row && occurrence_id !== undefined) {
    throw new TrackerError(
      'not_found',
      `Occurrence ${occurrence_id} of error ${error.id} not found. Only the newest occurrences are stored.`,
    )
  }
  if (!row) return { occurrence: null, payload: EMPTY_PAYLOAD }
  return {
    occurrence: {
      ...toOccurrence(row, error.first_message ?? error.message),
      previous_id: await findNeighborId(context, row, 'older'),
      next_id: await findNeighborId(context, row, 'newer'),
      position: await findPosition(context, row),
    },
    payload: await loadPayload(context, row.payload_id),
  }
}

/** Returns a page of the stored occurrences, newest first. Returns the last page for a page number past the end. */
export async function occurrencesPage(
  context: Context,
  error: OccurrenceParent,
  requested: { page: number; per_page: number },
): Promise<{ occurrences: Occurrence[]; occurrences_pagination: Pagination }> {
  const { per_page } = requested
  const storedCount = await countUpToLimit(context, errorOccurrences(context, error.id))
  const total_count = Math.min(storedCount, MAX_COUNTED)
  const total_pages = Math.max(1, Math.ceil(total_count / per_page))
  const page = Math.min(requested.page, total_pages)
  const rows = await errorOccurrences(context, error.id)
    .selectAll()
    .orderBy('occurred_at', 'desc')
    .orderBy('id', 'desc')
    .limit(per_page)
    .offset((page - 1) * per_page)
    .execute()
  return {
    occurrences: rows.map((row) => toOccurrence(row, error.first_message ?? error.message)),
    occurrences_pagination: {
      page,
      per_page,
      total_count,
      total_pages,
      ...(storedCount > MAX_COUNTED ? { total_is_lower_bound: true as const } : {}),
    },
  }
}

type OccurrenceRow = Selectable<OccurrencesTable>

function errorOccurrences({ database }: Context, error_id: number) {
  return database.read.selectFrom('faultboard_occurrences').where('error_id', '=', error_id)
}

function findOccurrence(
  context: Context,
  error_id: number,
  occurrence_id: number | undefined,
): Promise<OccurrenceRow | undefined> {
  const rows = errorOccurrences(context, error_id).selectAll()
  if (occurrence_id !== undefined) return rows.where('id', '=', occurrence_id).executeTakeFirst()
  return rows.orderBy('occurred_at', 'desc').orderBy('id', 'desc').limit(1).executeTakeFirst()
}

type NeighborSide = 'older' | 'newer'

/** Occurrences older or newer than the given occurrence, in display order. */
function occurrencesOnSide(context: Context, { error_id, occurred_at, id }: OccurrenceRow, side: NeighborSide) {
  const sign = side === 'older' ? '<' : '>'
  return (
    errorOccurrences(context, error_id)
      // Redundant, but lets the database use the index.
      .where('occurred_at', side === 'older' ? '<=' : '>=', occurred_at)
      .where(({ and, eb, or }) =>
        or([eb('occurred_at', sign, occurred_at), and([eb('occurred_at', '=', occurred_at), eb('id', sign, id)])]),
      )
  )
}

async function findNeighborId(context: Context, row: OccurrenceRow, side: NeighborSide): Promise<number | null> {
  const direction = side === 'older' ? 'desc' : 'asc'
  const neighbor = await occurrencesOnSide(context, row, side)
    .select('id')
    .orderBy('occurred_at', direction)
    .orderBy('id', direction)
    .limit(1)
    .executeTakeFirst()
  return neighbor?.id ?? null
}

async function findPosition(context: Context, row: OccurrenceRow): Promise<number | null> {
  const newer = await countUpToLimit(context, occurrencesOnSide(context, row, 'newer'))
  return newer > MAX_COUNTED ? null : newer + 1
}

/** Counts rows up to `MAX_COUNTED + 1`. */
async function countUpToLimit({ database }: Context, rows: ReturnType<typeof errorOccurrences>): Promise<number> {
  const { total } = await database.read
    .selectFrom(
      rows
        .select('id')
        .limit(MAX_COUNTED + 1)
        .as('counted'),
    )
    .select(({ fn }) => fn.countAll<number>().as('total'))
    .executeTakeFirstOrThrow()
  return Number(total)
}

async function loadPayload({ database }: Context, payload_id: number): Promise<OccurrencePayload> {
  const row = await database.read
    .selectFrom('faultboard_payloads')
    .select('content')
    .where('id', '=', payload_id)
    .executeTakeFirst()
  return row ? { ...EMPTY_PAYLOAD, ...JSON.parse(row.content) } : EMPTY_PAYLOAD
}
