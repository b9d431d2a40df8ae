import { type SqlSpelling, statementText } from './statement-text.js'

interface LeftStep {
  message: string
  metadata?: Record<string, unknown> | undefined
}

/**
 * The statement of a breadcrumb that the host has left, with `?` for every value. How its texts are written depends on
 * the database; where the host does not say which (`metadata.system`), what could be a value in any of them is taken
 * for one.
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

/** Ends a text in one database and not in the other. */
const UNCLEAR = /\\|\$[a-z_\d]*\$/i
