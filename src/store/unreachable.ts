import type { Dialect } from './dialect.js'

/** How pg and mysql2 speak of a connection that broke while they were using it: without a code. */
const WITHOUT_CODE =
  /^(Connection terminated|Client has encountered a connection error|timeout exceeded when trying to connect|Can't add new command when connection is in closed state)/

/**
 * Whether a driver says that its database does not answer. A dialect takes every fault it does not know for one that
 * passes; a bug of ours must not look like one.
 */
export function isUnreachable(error: unknown, dialect: Dialect): boolean {
  if (!(error instanceof Error) || error instanceof TypeError || error instanceof RangeError) return false
  // What the file system refuses has a code as well, and beside it the path.
  if ('path' in error) return false
  const spoken = ('code' in error && typeof error.code === 'string') || WITHOUT_CODE.test(error.message)
  return spoken && dialect.faultOf(error) === 'unavailable'
}
