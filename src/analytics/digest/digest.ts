import type { Context } from '../../context.js'
import type { Severity } from '../../model/severity/severity.js'
import { cleanText } from '../../model/text.js'
import { firstHourFrom } from '../../model/time.js'
import { hasRegressed } from '../../store/sql/regressed.js'
import { errorIdRanges, type Range } from '../../store/sql/timed-ranges.js'
import { topBy } from '../ranked-errors.js'
import { severityRank } from '../severity-rank.js'
import type { Span } from '../sums/period.js'
import { type DigestFrequency, daysBefore, digestSpan } from './digest-span.js'

/** Figures of a period and of the previous period. */
export interface DigestFigures {
  frequency: DigestFrequency
  from: number
  to: number
  figures: Record<
    'occurrences' | 'new_errors' | 'regressed_errors' | 'resolved_errors',
    { now: number; before: number }
  >
  new_errors: DigestEntry[]
  regressed_errors: DigestEntry[]
  top_errors: DigestEntry[]
  resolved_errors: DigestEntry[]
}

export interface DigestEntry {
  id: number
  application_id: number
  application_name: string
  error_type: string
  message: string
  severity: Severity
  /** Occurrences in the period. */
  count: number
}

const MAX_LISTED_ERRORS = 5
const MAX_MESSAGE_LENGTH = 300

/** Open errors that are assigned to a person. */
export interface AssignedErrors {
  total: number
  /** Newest first. */
  errors: DigestEntry[]
}

interface DigestOptions {
  /** Default: now. */
  at?: number
  /** Default: all applications. */
  application_id?: number | undefined
}

type ApplicationSpan = Span & { application_id: number | undefined }

/** Returns the figures of the last complete period. */
export async function digestFigures(
  context: Context,
  frequency: DigestFrequency,
  { at = context.now(), application_id }: DigestOptions = {},
): Promise<DigestFigures> {
  const { time_zone } = context.config
  const period = digestSpan(frequency, at, time_zone)
  const span: ApplicationSpan = { ...period, application_id }
  const before: ApplicationSpan = {
    ...{ from: daysBefore(span.from, frequency === 'daily' ? 1 : 7, time_zone), to: span.from },
    application_id,
  }
  const countBoth = async (count: (context: Context, span: ApplicationSpan) => Promise<number>) => ({
    now: await count(context, span),
    before: await count(context, before),
  })
  return {
    frequency,
    ...period,
    figures: {
      occurrences: await countBoth(countOccurrences),
      new_errors: await countBoth(countNewErrors),
      regressed_errors: await countBoth(countRegressedErrors),
      resolved_errors: await countBoth(countResolvedErrors),
    },
    new_errors: await loadEntries(context, span, await findNewIds(context, span)),
    regressed_errors: await loadEntries(context, span, await findRegressedIds(context, span)),
    top_errors: await loadTopErrors(context, span),
    resolved_errors: await loadEntries(context, span, await findResolvedIds(context, span)),
  }
}

/** Returns the open errors assigned to these people. Omits snoozed errors, like the Mine tab. */
export async function assignedErrors(
  context: Context,
  names: readonly string[],
  span: ApplicationSpan,
): Promise<AssignedErrors> {
  const { database, now } = context
  const query = database.read
    .selectFrom('faultboard_errors')
    .where('assigned_to', 'in', names)
    .where('resolved', '=', 0)
    .where(({ eb, or }) => or([eb('snoozed_until', 'is', null), eb('snoozed_until', '<=', now())]))
    .$if(span.application_id !== undefined, (open) => open.where('application_id', '=', span.application_id ?? 0))
  const { total } = await query.select(({ fn }) => fn.countAll<number>().as('total')).executeTakeFirstOrThrow()
  const newest = await query.select('id').orderBy('occurred_at', 'desc').limit(MAX_LISTED_ERRORS).execute()
  const ids = newest.map(({ id }) => id)
  return { total: Number(total), errors: await loadEntries(context, span, ids) }
}

async function countOccurrences({ database }: Context, span: ApplicationSpan): Promise<number> {
  const { from, to } = alignToHours(span)
  const { total } = await database.read
    .selectFrom('faultboard_application_hours')
    .select(({ fn }) => fn.sum<number | null>('count').as('total'))
    .where('hour', '>=', from)
    .where('hour', '<', to)
    .$if(span.application_id !== undefined, (query) => query.where('application_id', '=', span.application_id ?? 0))
    .executeTakeFirstOrThrow()
  return Number(total ?? 0)
}

function newErrorsQuery({ database }: Context, { from, to, application_id }: ApplicationSpan) {
  return database.read
    .selectFrom('faultboard_errors')
    .where('first_seen_at', '>=', from)
    .where('first_seen_at', '<', to)
    .$if(application_id !== undefined, (query) => query.where('application_id', '=', application_id ?? 0))
}

async function countNewErrors(context: Context, span: ApplicationSpan): Promise<number> {
  const { count } = await newErrorsQuery(context, span)
    .select(({ fn }) => fn.countAll<number>().as('count'))
    .executeTakeFirstOrThrow()
  return count
}

/** Most severe first, then most frequent. */
async function findNewIds(context: Context, span: ApplicationSpan): Promise<number[]> {
  const rows = await newErrorsQuery(context, span)
    .select('id')
    .orderBy(severityRank('severity'))
    .orderBy('occurrence_count', 'desc')
    .orderBy('id')
    .limit(MAX_LISTED_ERRORS)
    .execute()
  return rows.map(({ id }) => id)
}

function resolvedErrorsQuery({ database }: Context, { from, to, application_id }: ApplicationSpan) {
  return database.read
    .selectFrom('faultboard_errors')
    .where('resolved_at', '>=', from)
    .where('resolved_at', '<', to)
    .$if(application_id !== undefined, (query) => query.where('application_id', '=', application_id ?? 0))
}

/** Excludes errors that have been reopened since. */
async function countResolvedErrors(context: Context, span: ApplicationSpan): Promise<number> {
  const { count } = await resolvedErrorsQuery(context, span)
    .select(({ fn }) => fn.countAll<number>().as('count'))
    .executeTakeFirstOrThrow()
  return count
}

async function findResolvedIds(context: Context, span: ApplicationSpan): Promise<number[]> {
  const rows = await resolvedErrorsQuery(context, span)
    .select('id')
    .orderBy('resolved_at', 'desc')
    .limit(MAX_LISTED_ERRORS)
    .execute()
  return rows.map(({ id }) => id)
}

/** Counts each error at its latest regression. */
function regressedErrorsQuery({ database }: Context, { from, to, application_id }: ApplicationSpan) {
  return database.read
    .selectFrom('faultboard_errors')
    .where('reopened_at', '>=', from)
    .where('reopened_at', '<', to)
    .$if(application_id !== undefined, (query) => query.where('application_id', '=', application_id ?? 0))
    .where(hasRegressed)
}

async function countRegressedErrors(context: Context, span: ApplicationSpan): Promise<number> {
  const { count } = await regressedErrorsQuery(context, span)
    .select(({ fn }) => fn.countAll<number>().as('count'))
    .executeTakeFirstOrThrow()
  return count
}

async function findRegressedIds(context: Context, span: ApplicationSpan): Promise<number[]> {
  const rows = await regressedErrorsQuery(context, span)
    .select('id')
    .orderBy('reopened_at', 'desc')
    .limit(MAX_LISTED_ERRORS)
    .execute()
  return rows.map(({ id }) => id)
}

async function loadTopErrors(context: Context, span: ApplicationSpan): Promise<DigestEntry[]> {
  let topErrors: { id: number; count: number }[] = []
  for await (const range of errorIdRanges(context.database)) {
    const rows = await hoursOfErrors(context, span, range)
      .select(({ fn }) => ['e.id', fn.sum<number>('h.count').as('count')])
      .groupBy('e.id')
      .orderBy('count', 'desc')
      .orderBy('e.id')
      .limit(MAX_LISTED_ERRORS)
      .execute()
    topErrors = topBy([...topErrors, ...rows], ({ count }) => count, MAX_LISTED_ERRORS)
  }
  return loadEntries(
    context,
    span,
    topErrors.map(({ id }) => id),
  )
}

function hoursOfErrors({ database }: Context, span: ApplicationSpan, ids: Range) {
  const { application_id } = span
  const { from, to } = alignToHours(span)
  return (
    database.read
      .selectFrom('faultboard_errors as e')
      .innerJoin('faultboard_error_hours as h', 'h.error_id', 'e.id')
      .where('e.id', '>=', ids.from)
      .where('e.id', '<', ids.to)
      // Skips the hours of errors without occurrences in the span.
      .where('e.occurred_at', '>=', from)
      .where('h.hour', '>=', from)
      .where('h.hour', '<', to)
      .$if(application_id !== undefined, (query) => query.where('e.application_id', '=', application_id ?? 0))
  )
}

/** Assigns each hour to the day in which it starts. */
function alignToHours({ from, to }: Span): Span {
  return { from: firstHourFrom(from), to: firstHourFrom(to) }
}

/** Keeps the order of the ids. Omits deleted errors. */
async function loadEntries({ database }: Context, span: Span, ids: readonly number[]): Promise<DigestEntry[]> {
  if (ids.length === 0) return []
  const { from, to } = alignToHours(span)
  const rows = await database.read
    .selectFrom('faultboard_errors as e')
    .innerJoin('faultboard_applications as a', 'a.id', 'e.application_id')
    .leftJoin('faultboard_error_hours as h', (join) =>
      join.onRef('h.error_id', '=', 'e.id').on('h.hour', '>=', from).on('h.hour', '<', to),
    )
    .select(['e.id', 'e.application_id', 'a.name as application_name', 'e.error_type', 'e.message', 'e.severity'])
    .select(({ fn }) => fn.sum<number | null>('h.count').as('count'))
    .where('e.id', 'in', ids)
    .groupBy(['e.id', 'e.application_id', 'a.name', 'e.error_type', 'e.message', 'e.severity'])
    .execute()
  const found = new Map(
    rows.map((row) => [
      row.id,
      { ...row, message: cleanText(row.message, MAX_MESSAGE_LENGTH), count: Number(row.count ?? 0) },
    ]),
  )
  return ids.flatMap((id) => found.get(id) ?? [])
}
