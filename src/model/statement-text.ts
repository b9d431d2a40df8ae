export type SqlSpelling = 'postgres' | 'mysql'

const COMMENT = String.raw`/\*.*?(?:\*/|$)`
const NUMBER = String.raw`(?<![\w$.])(?:0x[\da-f]+|\d+(?:\.\d+)?(?:e[+-]?\d+)?)(?!\w)`

/**
 * What has to be told apart to find the values in a statement: comments, texts, names, numbers. One that was cut off
 * reaches to the end of the text.
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

const READ = 2000
const REMEMBERED = 500

/** Statements without values come again and again; one that held values is not remembered, nor are they. */
const known: Record<SqlSpelling, Map<string, string>> = { postgres: new Map(), mysql: new Map() }

/** The beginning of a statement on one line, with `?` for every value that stands in it. */
export function statementText(sql: string, spelling: SqlSpelling): string {
  const remembered = known[spelling].get(sql)
  if (remembered !== undefined) return remembered
  let held_values = false
  const text = sql
    .slice(0, READ)
    .replace(TOKENS[spelling], (token) => {
      if (isName(token, spelling)) return token
      held_values = true
      return isComment(token) ? '' : '?'
    })
    .replace(/\s+/g, ' ')
    .replace(/\?(?: ?, ?\?){2,}/g, '?, …')
    .trim()
  if (!held_values && sql.length <= READ) remember(known[spelling], sql, text)
  return text
}

function isName(token: string, spelling: SqlSpelling): boolean {
  return token.startsWith(spelling === 'mysql' ? '`' : '"')
}

function isComment(token: string): boolean {
  return token.startsWith('/*') || token.startsWith('--') || token.startsWith('#')
}

function remember(texts: Map<string, string>, sql: string, text: string): void {
  if (texts.size >= REMEMBERED) texts.clear()
  texts.set(sql, text)
}
