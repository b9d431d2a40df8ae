import { type SqlSpelling, statementText } from './statement-text.js'

interface LeftStep {
  message: string
  metadata?: Record<string, unknown> | undefined
}

/**
 * Statement of a breadcrumb added by the host, with `?` for every value. String syntax depends on the database.
 * Without `metadata.system`, anything that could be a value in any database is replaced.
 */
export function leftStatement({ message, metadata }: LeftStep): string {
  const system = metadata && Object.getOwnPropertyDescriptor(metadata, 'system')?.value
  const spelling = SPELLINGS.find(([name]) => name.test(String(system)))?.[1]
  if (spelling) return statementText(message, spelling)
  const end = message.search(UNCLEAR) < 0 ? message.length : message.search(/['"$\\]/)
  const sure = statementText(message.slice(0, end), 'mysql')
  return end < message.length ? `${sure} …` : sure
}

const SPELLINGS: readonly (readonly [RegExp, SqlSpelling])[] = [
  [/^(?:postgres|postgresql|pg|sqlite|sqlite3|cockroachdb)$/i, 'postgres'],
  [/^(?:mysql|mysql2|mariadb)$/i, 'mysql'],
]

/** Ends a string in one database but not in another. */
const UNCLEAR = /\\|\$[a-z_\d]*\$/i
