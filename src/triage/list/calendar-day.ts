import * as v from 'valibot'
import { facts } from '../../model/describe-input.js'

/** A day as `2026-03-09`. */
export const calendarDay = () =>
  v.pipe(
    v.string(DAY_SENTENCE),
    v.trim(),
    v.check((text) => isCalendarDay(text), DAY_SENTENCE),
    facts({ type: 'day' }),
  )

const DAY_SENTENCE = 'must be a day such as 2026-03-09'

function isCalendarDay(text: string): boolean {
  if (!/^(19[7-9]|2\d\d)\d-\d\d-\d\d$/.test(text)) return false
  const time = Date.parse(`${text}T00:00:00Z`)
  return !Number.isNaN(time) && new Date(time).toISOString().startsWith(text)
}
