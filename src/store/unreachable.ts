import type { Dialect } from './dialect.js'

/** Network errors of the operating system and the resolver. */
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

/** Connection errors that pg, mysql2 and the SQLite libraries report without a code. */
const CONNECTION_MESSAGES =
  /^(Connection terminated|Client has encountered a connection error|Client was closed and is not queryable|timeout e(xceeded when trying to connect|xpired)|Query read timeout|Cannot use a pool after calling end|Can't add new command when connection is in closed state|Pool is closed|The database connection is not open|database is not open)/

/**
 * Whether the database is unreachable or locked, so that a retry may succeed. Every other failure of a query is a bug,
 * such as a missing table, a syntax error or a wrong argument.
 */
export function isUnreachable(error: unknown, dialect: Dialect): boolean {
  if (!(error instanceof Error)) return false
  const { code, syscall } = error as { code?: unknown; syscall?: unknown }
  // A missing socket file fails with ENOENT, which counts only for a connection.
  if (NETWORK_CODES.includes(code) || syscall === 'connect') return true
  return CONNECTION_MESSAGES.test(error.message) || dialect.isOutage(error)
}
