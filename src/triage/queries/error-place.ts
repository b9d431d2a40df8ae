import { displayLocation } from '../../model/stacks/code-place.js'
import type { ErrorRecord } from './error-record.js'

/**
 * Where an error is, in words that fit its type and message: those are of the outermost error, while errors are grouped
 * by the place of their root cause. `root` is the folder to which paths are relative.
 *
 * @example
 * placeWords(record, '/app') // { relation: 'caused at', place: 'src/rows.ts:7 in read' }
 */
export function placeWords(
  { place, backtrace, causes }: Pick<ErrorRecord, 'place' | 'backtrace' | 'causes'>,
  root: string,
): { relation: 'in' | 'caused at'; place: string } | null {
  if (!place) return null
  const shown = displayLocation(backtrace, root)
  const isElsewhere = causes.length > 0 && shown !== null && shown !== place
  return { relation: isElsewhere ? 'caused at' : 'in', place }
}
