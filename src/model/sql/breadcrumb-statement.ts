import { type SqlDialect, statementText } from './statement-text.js'

interface SqlBreadcrumb {
  message: string
  metadata?: Record<string, unknown> | undefined
}

/**
 * Statement of a breadcrumb added by the host, with `?` for every value. String syntax depends on the database.
 * Without `metadata.system`, anything that could be a value in any database is replaced.
 */
export function breadcrumbStatement({ message, metadata }: SqlBreadcrumb): string {
  const system = metadata && Object.getOwnPropertyDescriptor(metadata, 'system')?.value
  const dialect = DIALECTS.find(([name]) => name.test(String(system)))?.[1]
  if (dialect) return statementText(message, dialect)
  const end = message.search(AMBIGUOUS_QUOTE) < 0 ? message.length : message.search(/['"$\\]/)
  const text = statementText(message.slice(0, end), 'mysql')
  return end < message.length ? `${text} …` : text
}

const DIALECTS: readonly (readonly [RegExp, SqlDialect])[] = [
  [/^(?:postgres|postgresql|pg|sqlite|sqlite3|cockroachdb)$/i, 'postgres'],
  [/^(?:mysql|mysql2|mariadb)$/i, 'mysql'],
]

/** Ends a string in one database but not in another. */
const AMBIGUOUS_QUOTE = /\\|\$[a-z_\d]*\$/i
