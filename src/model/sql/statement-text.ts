export type SqlDialect = 'postgres' | 'mysql'

const COMMENT = String.raw`/\*.*?(?:\*/|$)`
const NUMBER = String.raw`(?<![\w$.])(?:0x[\da-f]+|\d+(?:\.\d+)?(?:e[+-]?\d+)?)(?!\w)`

/**
 * Tokens needed to find the values in a statement: comments, strings, names, numbers. A truncated token extends to the
 * end of the text.
 */
const TOKENS: Record<SqlDialect, RegExp> = {
  postgres: tokenPattern(
    COMMENT,
    String.raw`--[^\n]*`,
    '"(?:[^"]|"")*(?:"|$)',
    String.raw`\$([a-z_]\w*)?\$.*?(?:\$\1\$|$)`,
    String.raw`\be'(?:[^'\\]|''|\\.)*(?:'|\\?$)`,
    "'(?:[^']|'')*(?:'|$)",
    NUMBER,
  ),
  mysql: tokenPattern(
    COMMENT,
    String.raw`--\s[^\n]*`,
    '#[^\\n]*',
    '`[^`]*(?:`|$)',
    String.raw`'(?:[^'\\]|''|\\.)*(?:'|\\?$)`,
    String.raw`"(?:[^"\\]|""|\\.)*(?:"|\\?$)`,
    NUMBER,
  ),
}

function tokenPattern(...patterns: readonly string[]): RegExp {
  return new RegExp(patterns.join('|'), 'gis')
}

const MAX_STATEMENT_LENGTH = 2000
const MAX_CACHED_STATEMENTS = 500

/** Cache of statements without values, which repeat often. Statements with values are not cached. */
const cachedTexts: Record<SqlDialect, Map<string, string>> = { postgres: new Map(), mysql: new Map() }

/** Beginning of a statement on one line, with `?` for every value. */
export function statementText(sql: string, dialect: SqlDialect): string {
  const cached = cachedTexts[dialect].get(sql)
  if (cached !== undefined) return cached
  let hasValues = false
  const text = sql
    .slice(0, MAX_STATEMENT_LENGTH)
    .replace(TOKENS[dialect], (token) => {
      if (isQuotedName(token, dialect)) return token
      hasValues = true
      return isComment(token) ? '' : '?'
    })
    .replace(/\s+/g, ' ')
    .replace(/\?(?: ?, ?\?){2,}/g, '?, …')
    .trim()
  if (!hasValues && sql.length <= MAX_STATEMENT_LENGTH) cacheText(cachedTexts[dialect], sql, text)
  return text
}

function isQuotedName(token: string, dialect: SqlDialect): boolean {
  return token.startsWith(dialect === 'mysql' ? '`' : '"')
}

function isComment(token: string): boolean {
  return token.startsWith('/*') || token.startsWith('--') || token.startsWith('#')
}

function cacheText(texts: Map<string, string>, sql: string, text: string): void {
  if (texts.size >= MAX_CACHED_STATEMENTS) texts.clear()
  texts.set(sql, text)
}
