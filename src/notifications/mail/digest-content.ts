import type { Severity } from '../../model/severity/severity.js'
import { startOfDay } from '../../model/time.js'
import { sourceLabel } from '../content/card.js'
import type { Links } from '../content/dashboard-links.js'
import { formatCount, formatDay, formatQuantity, formatTime } from '../content/format-text.js'
import type { Digest, DigestError, DigestFigure, DigestNotice } from '../content/notice.js'
import { oneLine, withoutLinks } from '../content/safe-text.js'

/** Content of a digest, shared by the text and HTML parts. Safe to display, but not escaped. */
export interface DigestContent {
  title: string
  source: string
  period: string
  /** `1,240 occurrences, 2 new errors` */
  summary: string
  figures: readonly FigureContent[]
  /** Sentence shown when there is nothing to list. */
  emptyText: string | null
  sections: readonly SectionContent[]
  url: string | null
}

export interface FigureContent {
  label: string
  count: string
  /** Comparison with the previous period: `up 24% from 1,000`. */
  change: string
  tone: 'worse' | 'better' | 'muted'
}

export interface SectionContent {
  heading: string
  rows: readonly RowContent[]
  /** Number of errors that are not listed. */
  more: number
}

export interface RowContent {
  type: string
  message: string
  severity: Severity
  count: string
  /** Null when all errors belong to one application. */
  application: string | null
  url: string | null
}

const MAX_TEXT_LENGTH = 160
const MAX_ROWS = 10

/** Sections of a digest, most important first. */
const SECTIONS = [
  { list: 'new_errors', heading: 'New errors' },
  { list: 'regressed_errors', heading: 'Regressions' },
  { list: 'top_errors', heading: 'Most frequent errors' },
  { list: 'resolved_errors', heading: 'Resolved errors' },
] as const

const FIGURES = [
  { figure: 'occurrences', label: 'Occurrences', increaseTone: 'worse' },
  { figure: 'new_errors', label: 'New errors', increaseTone: 'worse' },
  { figure: 'regressed_errors', label: 'Regressions', increaseTone: 'worse' },
  { figure: 'resolved_errors', label: 'Resolved', increaseTone: 'better' },
] as const

export function digestContent(notice: DigestNotice, links: Links, time_zone: string): DigestContent {
  const { digest, application_name } = notice
  const { occurrences, new_errors } = digest.figures
  const lists = SECTIONS.map(({ list, heading }) => ({ heading, errors: digest[list] }))
  const assigned = digest.assigned_errors
  const isMultiApplication = lists.some(({ errors }) =>
    errors.some((error) => error.application_name !== application_name),
  )
  return {
    title: `${digest.frequency === 'daily' ? 'Daily' : 'Weekly'} digest`,
    source: sourceLabel(notice),
    period: periodText(digest, time_zone),
    summary: `${formatQuantity(occurrences.now, 'occurrence')}, ${formatQuantity(new_errors.now, 'new error')}`,
    figures: FIGURES.map(({ figure, label, increaseTone }) =>
      figureContent(digest.figures[figure], label, increaseTone),
    ),
    emptyText: occurrences.now === 0 ? 'No errors were recorded in this period.' : null,
    sections: [
      ...(assigned
        ? [{ heading: `Assigned to you: ${formatQuantity(assigned.total, 'open error')}`, ...assigned }]
        : []),
      ...lists.map((list) => ({ ...list, total: list.errors.length })),
    ]
      .filter(({ total }) => total > 0)
      .map(({ heading, errors, total }) => {
        const rows = errors.slice(0, MAX_ROWS).map((error) => rowContent(error, isMultiApplication, links))
        return { heading, rows, more: total - rows.length }
      }),
    url: links.page('/overview'),
  }
}

/** Formats whole days as dates, and other periods with their start and end times. */
function periodText({ frequency, from, to }: Digest, time_zone: string): string {
  const isWholeDays = [from, to].every((time) => startOfDay(time, time_zone) === time)
  if (!isWholeDays) return `${formatTime(from, time_zone)} to ${formatTime(to, time_zone)}`
  if (frequency === 'daily') return `${formatDay(from, time_zone)} (${time_zone})`
  return `${formatDay(from, time_zone)} to ${formatDay(to - 1, time_zone)} (${time_zone})`
}

function figureContent(figure: DigestFigure, label: string, increaseTone: 'worse' | 'better'): FigureContent {
  const { now, before } = figure
  const decreaseTone = increaseTone === 'worse' ? 'better' : 'worse'
  const tone = now === before ? 'muted' : now > before ? increaseTone : decreaseTone
  return { label, count: formatCount(now), change: changeText(figure), tone }
}

/** Uses words because screen readers skip arrows. */
function changeText({ now, before }: DigestFigure): string {
  if (now === before) return before === 0 ? 'none in the previous period either' : 'unchanged'
  if (before === 0) return 'none in the previous period'
  const percent = Math.round((Math.abs(now - before) / before) * 100)
  const amount = percent > 999 ? 'more than tenfold' : `${percent}%`
  return `${now > before ? 'up' : 'down'} ${amount} from ${formatCount(before)}`
}

function rowContent(
  { id, severity, count, ...error }: DigestError,
  isMultiApplication: boolean,
  links: Links,
): RowContent {
  const shortText = (text: string) => withoutLinks(oneLine(text, MAX_TEXT_LENGTH))
  return {
    type: shortText(error.error_type),
    message: shortText(error.message),
    ...{ severity, count: formatCount(count), url: links.error(id) },
    application: isMultiApplication ? shortText(error.application_name) : null,
  }
}
