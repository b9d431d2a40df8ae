import type { Counters } from '../../model/counters.js'
import { failureMessage } from '../../model/errors.js'
import type { Database } from '../database.js'
import type { Spool } from '../spool/spool.js'
import { countOccurrences, type FoldedGroup } from './folded-group.js'

/** Returns true if the data caused the error, so that a retry cannot succeed. */
export function isRefusal(database: Database, error: unknown): boolean {
  return error instanceof TypeError || error instanceof RangeError || database.classifyError(error) === 'statement'
}

interface RefusalParts {
  counters: Counters
  spool: Spool
  warn(message: string): void
}

/** Counts and logs groups that the database refused. */
export function reportRefused(
  { counters, spool, warn }: RefusalParts,
  groups: readonly FoldedGroup[],
  error: unknown,
): void {
  counters.add('refused_by_database', countOccurrences(groups))
  warn(`The database rejected errors. They are kept as a .failed file in ${spool.folder}: ${failureMessage(error)}`)
}
