export type SqlSpelling = 'postgres' | 'mysql'

const COMMENT = String.raw`/\*.*?(?:\*/|$)`
const NUMBER = String.raw`(?<![\w$.])(?:0x[\da-f]+|\d+(?:\.\d+)?(?:e[+-]?\d+)?)(?!\w)`

/**
 * Tokens needed to find the values in a statement: comments, strings, names, numbers. A truncated token extends to the
 * end of the text.
 */
const TOKENS: Record<SqlSpelling, RegExp> = {
  postgres: tokens(
    COMMENT,
    String.raw`--[^\n]*`,
    '"(?:[^"]|"")*(?:"|$)',
    String.raw`\$([a-z_]\w*)?\$.*?(?:\$\1\$|$)`,
    String.raw`\be'(?:[^'\\]|''|\\.)*(?:'|\\?$)`,
    "'(?:[^']|'')*(?:'|$)",
    NUMBER,
  ),
  mysql: tokens(
    COMMENT,
    String.raw`--\s[^\n]*`,
    '#[^\\n]*',
    '`[^`]*(?:`|$)',
    String.raw`'(?:[^'\\]|''|\\.)*(?:'|\\?$)`,
    String.raw`"(?:[^"\\]|""|\\.)*(?:"|\\?$)`,
    NUMBER,
  ),
}

function tokens(...patterns: readonly string[]): RegExp {
  return new RegExp(patterns.join('|'), 'gis')
}

const MAX_READ_LENGTH = 2000
const MAX_CACHED_STATEMENTS = 500

/** Cache of statements without values, which repeat often. Statements with values are not cached. */
const known: Record<SqlSpelling, Map<string, string>> = { postgres: new Map(), mysql: new Map() }

/** Beginning of a statement on one line, with `?` for every value. */
export function statementText(sql: string, spelling: SqlSpelling): string {
  const remembered = known[spelling].get(sql)
  if (remembered !== undefined) return remembered
  let heldValues = false
  const text = sql
    .slice(0, MAX_READ_LENGTH)
    .replace(TOKENS[spelling], (token) => {
      if (isName(token, spelling)) return token
      heldValues = true
      return isComment(token) ? '' : '?'
    })
    .replace(/\s+/g, ' ')
    .replace(/\?(?: ?, ?\?){2,}/g, '?, …')
    .trim()
  if (!heldValues && sql.length <= MAX_READ_LENGTH) remember(known[spelling], sql, text)
  return text
}

function isName(token: string, spelling: SqlSpelling): boolean {
  return token.startsWith(spelling === 'mysql' ? '`' : '"')
}

function isComment(token: string): boolean {
  return token.startsWith('/*') || token.startsWith('--') || token.startsWith('#')
}

function remember(texts: Map<string, string>, sql: string, text: string): void {
  if (texts.size >= MAX_CACHED_STATEMENTS) texts.clear()
  texts.set(sql, text)
}
