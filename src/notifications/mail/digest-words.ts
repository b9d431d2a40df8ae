import type { Severity } from '../../model/severity.js'
import { startOfDay } from '../../model/time.js'
import { whereOf } from '../content/card.js'
import { counted, formatCount, formatDay, formatTime } from '../content/formats.js'
import { oneLine, unlinked } from '../content/legible.js'
import type { Links } from '../content/links.js'
import type { Digest, DigestError, DigestFigure, DigestNotice } from '../content/notice.js'

/** A digest in words, the same for the text and the HTML of the mail; legible, but not escaped. */
export interface DigestWords {
  title: string
  where: string
  period: string
  /** `1,240 occurrences, 2 new errors` */
  summary: string
  figures: readonly FigureWords[]
  /** A sentence where there is nothing to list. */
  quiet: string | null
  sections: readonly SectionWords[]
  url: string | null
}

export interface FigureWords {
  label: string
  count: string
  /** Beside the period before: `up 24 % from 1,000`. */
  change: string
  tone: 'worse' | 'better' | 'muted'
}

export interface SectionWords {
  heading: string
  rows: readonly RowWords[]
  /** How many there are beyond the rows. */
  more: number
}

export interface RowWords {
  type: string
  message: string
  severity: Severity
  count: string
  /** Null where all are of one application. */
  application: string | null
  url: string | null
}

const MAX_WORD = 160
const MAX_ROWS = 10

/** THE LISTS of a digest, in the order in which they are worth reading. */
const SECTIONS = [
  { list: 'new_errors', heading: 'New' },
  { list: 'regressed_errors', heading: 'Came back' },
  { list: 'top_errors', heading: 'Most often' },
  { list: 'resolved_errors', heading: 'Resolved' },
] as const

const FIGURES = [
  { figure: 'occurrences', label: 'Occurrences', more_is: 'worse' },
  { figure: 'new_errors', label: 'New errors', more_is: 'worse' },
  { figure: 'regressed_errors', label: 'Came back', more_is: 'worse' },
  { figure: 'resolved_errors', label: 'Resolved', more_is: 'better' },
] as const

export function digestWords(notice: DigestNotice, links: Links, time_zone: string): DigestWords {
  const { digest, application_name } = notice
  const { occurrences, new_errors } = digest.figures
  const lists = SECTIONS.map(({ list, heading }) => ({ heading, errors: digest[list] }))
  const several = lists.some(({ errors }) => errors.some((error) => error.application_name !== application_name))
  return {
    title: `${digest.frequency === 'daily' ? 'Daily' : 'Weekly'} digest`,
    where: whereOf(notice),
    period: periodOf(digest, time_zone),
    summary: `${counted(occurrences.now, 'occurrence')}, ${counted(new_errors.now, 'new error')}`,
    figures: FIGURES.map(({ figure, label, more_is }) => figureWords(digest.figures[figure], label, more_is)),
    quiet: occurrences.now === 0 ? 'A quiet time: no error was recorded.' : null,
    sections: lists
      .filter(({ errors }) => errors.length > 0)
      .map(({ heading, errors }) => ({
        heading,
        rows: errors.slice(0, MAX_ROWS).map((error) => rowWords(error, several, links)),
        more: Math.max(0, errors.length - MAX_ROWS),
      })),
    url: links.page('/overview'),
  }
}

/** Whole days by their names, else from and to. */
function periodOf({ frequency, from, to }: Digest, time_zone: string): string {
  const is_whole = [from, to].every((time) => startOfDay(time, time_zone) === time)
  if (!is_whole) return `${formatTime(from, time_zone)} to ${formatTime(to, time_zone)}`
  if (frequency === 'daily') return `${formatDay(from, time_zone)} (${time_zone})`
  return `${formatDay(from, time_zone)} to ${formatDay(to - 1, time_zone)} (${time_zone})`
}

function figureWords(figure: DigestFigure, label: string, more_is: 'worse' | 'better'): FigureWords {
  const { now, before } = figure
  const fewer_is = more_is === 'worse' ? 'better' : 'worse'
  const tone = now === before ? 'muted' : now > before ? more_is : fewer_is
  return { label, count: formatCount(now), change: changeOf(figure), tone }
}

/** In words, because an arrow is read aloud as nothing. */
function changeOf({ now, before }: DigestFigure): string {
  if (now === before) return before === 0 ? 'none before either' : 'as many as before'
  if (before === 0) return 'none before'
  const percent = Math.round((Math.abs(now - before) / before) * 100)
  const much = percent > 999 ? 'more than tenfold' : `${percent} %`
  return `${now > before ? 'up' : 'down'} ${much} from ${formatCount(before)}`
}

function rowWords({ id, severity, count, ...error }: DigestError, several: boolean, links: Links): RowWords {
  const word = (text: string) => unlinked(oneLine(text, MAX_WORD))
  return {
    type: word(error.error_type),
    message: word(error.message),
    ...{ severity, count: formatCount(count), url: links.error(id) },
    application: several ? word(error.application_name) : null,
  }
}
