import type { Dialect } from './dialect.js'

/** Failures on the way to a database server, from the operating system or the resolver. */
const NETWORK_CODES: readonly unknown[] = [
  'ECONNREFUSED',
  'ECONNRESET',
  'ECONNABORTED',
  'EPIPE',
  'ETIMEDOUT',
  'ENOTFOUND',
  'EAI_AGAIN',
  'EHOSTUNREACH',
  'EHOSTDOWN',
  'ENETUNREACH',
  'ENETDOWN',
]

/** Connection failures that pg, mysql2 and the SQLite libraries report without a code of their own. */
const CONNECTION_MESSAGES =
  /^(Connection terminated|Client has encountered a connection error|Client was closed and is not queryable|timeout e(xceeded when trying to connect|xpired)|Query read timeout|Cannot use a pool after calling end|Can't add new command when connection is in closed state|Pool is closed|The database connection is not open|database is not open)/

/**
 * Whether the error means that the database is unreachable or locked, so that a later attempt may succeed. Every other
 * failure of a query is a bug: a missing table, a syntax error, a wrong argument.
 */
export function isUnreachable(error: unknown, dialect: Dialect): boolean {
  if (!(error instanceof Error)) return false
  const { code, syscall } = error as { code?: unknown; syscall?: unknown }
  // A socket file that does not exist fails with ENOENT, which only counts for a connection.
  if (NETWORK_CODES.includes(code) || syscall === 'connect') return true
  return CONNECTION_MESSAGES.test(error.message) || dialect.isOutage(error)
}
