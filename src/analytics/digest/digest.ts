import type { Context } from '../../context.js'
import type { Severity } from '../../model/severity.js'
import { cleanText } from '../../model/text.js'
import { firstHourFrom } from '../../model/time.js'
import { errorIdRanges, type Range } from '../../store/timed-ranges.js'
import { gravity } from '../gravity.js'
import { firstBy } from '../ranked-errors.js'
import type { Span } from '../sums/period.js'
import { type DigestFrequency, daysBefore, digestSpan } from './digest-span.js'

/** What happened in a period, and how much of it in the period before. */
export interface DigestFigures {
  frequency: DigestFrequency
  from: number
  to: number
  figures: Record<
    'occurrences' | 'new_errors' | 'regressed_errors' | 'resolved_errors',
    { now: number; before: number }
  >
  new_errors: DigestedError[]
  regressed_errors: DigestedError[]
  top_errors: DigestedError[]
  resolved_errors: DigestedError[]
}

export interface DigestedError {
  id: number
  application_id: number
  application_name: string
  error_type: string
  message: string
  severity: Severity
  /** Occurrences in the period. */
  count: number
}

const SHOWN = 5
const MESSAGE_LENGTH = 300

interface DigestQuestion {
  /** Left out: now. */
  at?: number
  /** Left out: all of them. */
  application_id?: number | undefined
}

type Part = Span & { application_id: number | undefined }

/** The figures of the last period that was over at a time. */
export async function digestFigures(
  context: Context,
  frequency: DigestFrequency,
  { at = context.now(), application_id }: DigestQuestion = {},
): Promise<DigestFigures> {
  const { time_zone } = context.config
  const period = digestSpan(frequency, at, time_zone)
  const span: Part = { ...period, application_id }
  const before: Part = {
    ...{ from: daysBefore(span.from, frequency === 'daily' ? 1 : 7, time_zone), to: span.from },
    application_id,
  }
  const pair = async (count: (context: Context, span: Part) => Promise<number>) => ({
    now: await count(context, span),
    before: await count(context, before),
  })
  return {
    frequency,
    ...period,
    figures: {
      occurrences: await pair(occurrences),
      new_errors: await pair(newErrors),
      regressed_errors: await pair(regressedErrors),
      resolved_errors: await pair(resolvedErrors),
    },
    new_errors: await listed(context, span, await newIds(context, span)),
    regressed_errors: await listed(context, span, await regressedIds(context, span)),
    top_errors: await topErrors(context, span),
    resolved_errors: await listed(context, span, await resolvedIds(context, span)),
  }
}

async function occurrences({ database }: Context, span: Part): Promise<number> {
  const { from, to } = hoursIn(span)
  const { total } = await database.read
    .selectFrom('faultboard_application_hours')
    .select(({ fn }) => fn.sum<number | null>('count').as('total'))
    .where('hour', '>=', from)
    .where('hour', '<', to)
    .$if(span.application_id !== undefined, (query) => query.where('application_id', '=', span.application_id ?? 0))
    .executeTakeFirstOrThrow()
  return Number(total ?? 0)
}

function newIn({ database }: Context, { from, to, application_id }: Part) {
  return database.read
    .selectFrom('faultboard_errors')
    .where('first_seen_at', '>=', from)
    .where('first_seen_at', '<', to)
    .$if(application_id !== undefined, (query) => query.where('application_id', '=', application_id ?? 0))
}

async function newErrors(context: Context, span: Part): Promise<number> {
  const { count } = await newIn(context, span)
    .select(({ fn }) => fn.countAll<number>().as('count'))
    .executeTakeFirstOrThrow()
  return count
}

/** The gravest first, and of those the most frequent. */
async function newIds(context: Context, span: Part): Promise<number[]> {
  const rows = await newIn(context, span)
    .select('id')
    .orderBy(gravity('severity'))
    .orderBy('occurrence_count', 'desc')
    .orderBy('id')
    .limit(SHOWN)
    .execute()
  return rows.map(({ id }) => id)
}

function resolvedIn({ database }: Context, { from, to, application_id }: Part) {
  return database.read
    .selectFrom('faultboard_errors')
    .where('resolved_at', '>=', from)
    .where('resolved_at', '<', to)
    .$if(application_id !== undefined, (query) => query.where('application_id', '=', application_id ?? 0))
}

/** What was reopened since does not count. */
async function resolvedErrors(context: Context, span: Part): Promise<number> {
  const { count } = await resolvedIn(context, span)
    .select(({ fn }) => fn.countAll<number>().as('count'))
    .executeTakeFirstOrThrow()
  return count
}

async function resolvedIds(context: Context, span: Part): Promise<number[]> {
  const rows = await resolvedIn(context, span).select('id').orderBy('resolved_at', 'desc').limit(SHOWN).execute()
  return rows.map(({ id }) => id)
}

/** Those that an occurrence has reopened; what a person opened again did not come back. One counts when it last did. */
function regressedIn({ database }: Context, { from, to, application_id }: Part) {
  return database.read
    .selectFrom('faultboard_errors as e')
    .where('e.reopened_at', '>=', from)
    .where('e.reopened_at', '<', to)
    .$if(application_id !== undefined, (query) => query.where('e.application_id', '=', application_id ?? 0))
    .where(({ exists, selectFrom }) =>
      exists(
        selectFrom('faultboard_activities as a')
          .select('a.id')
          .whereRef('a.error_id', '=', 'e.id')
          .where('a.action', 'in', ['reopened', 'regressed'])
          .whereRef('a.created_at', '>=', 'e.reopened_at'),
      ),
    )
}

async function regressedErrors(context: Context, span: Part): Promise<number> {
  const { count } = await regressedIn(context, span)
    .select(({ fn }) => fn.countAll<number>().as('count'))
    .executeTakeFirstOrThrow()
  return count
}

async function regressedIds(context: Context, span: Part): Promise<number[]> {
  const rows = await regressedIn(context, span).select('e.id').orderBy('e.reopened_at', 'desc').limit(SHOWN).execute()
  return rows.map(({ id }) => id)
}

async function topErrors(context: Context, span: Part): Promise<DigestedError[]> {
  let first: { id: number; count: number }[] = []
  for await (const range of errorIdRanges(context.database)) {
    const rows = await hoursOfErrors(context, span, range)
      .select(({ fn }) => ['e.id', fn.sum<number>('h.count').as('count')])
      .groupBy('e.id')
      .orderBy('count', 'desc')
      .orderBy('e.id')
      .limit(SHOWN)
      .execute()
    first = firstBy([...first, ...rows], ({ count }) => count, SHOWN)
  }
  return listed(
    context,
    span,
    first.map(({ id }) => id),
  )
}

function hoursOfErrors({ database }: Context, span: Part, ids: Range) {
  const { application_id } = span
  const { from, to } = hoursIn(span)
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

/** An hour belongs to the day in which it begins. */
function hoursIn({ from, to }: Span): Span {
  return { from: firstHourFrom(from), to: firstHourFrom(to) }
}

/** In the order of the ids; what was deleted meanwhile is left out. */
async function listed({ database }: Context, span: Span, ids: readonly number[]): Promise<DigestedError[]> {
  if (ids.length === 0) return []
  const { from, to } = hoursIn(span)
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
      { ...row, message: cleanText(row.message, MESSAGE_LENGTH), count: Number(row.count ?? 0) },
    ]),
  )
  return ids.flatMap((id) => found.get(id) ?? [])
}
