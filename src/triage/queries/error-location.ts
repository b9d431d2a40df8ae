import { displayLocation } from '../../model/stacks/code-place.js'
import type { ErrorRecord } from './error-record.js'

/**
 * Location of an error, with a preposition that fits its type and message. Type and message belong to the outermost
 * error, but errors are grouped by the location of their root cause. `root` is the folder that paths are relative to.
 *
 * @example
 * locationPhrase(record, '/app') // { relation: 'caused at', place: 'src/rows.ts:7 in read' }
 */
export function locationPhrase(
  { place, backtrace, causes }: Pick<ErrorRecord, 'place' | 'backtrace' | 'causes'>,
  root: string,
): { relation: 'in' | 'caused at'; place: string } | null {
  if (!place) return null
  const shownLocation = displayLocation(backtrace, root)
  const isElsewhere = causes.length > 0 && shownLocation !== null && shownLocation !== place
  return { relation: isElsewhere ? 'caused at' : 'in', place }
}
