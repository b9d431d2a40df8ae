import type { IsSensitiveKey } from './sensitive-keys.js'

/** A column list and the word before its rows: `(name, password) values `. */
const COLUMN_LIST = /\(([^()]{1,4000})\)\s{0,20}(?:overriding \w{1,10} value\s{0,20})?(?:values?|select)\s{0,20}/gi
const QUOTED_LITERAL =
  /(?:[a-z]|_\w{1,10})?'(?:[^'\\]|\\[\s\S]|'')*'?|"(?:[^"\\]|\\[\s\S]|"")*"?|\$\w{0,20}\$[\s\S]*?(?:\$\w{0,20}\$|$)/iy
/** Placeholders and keywords without a value. */
const NOT_A_LITERAL = /^(?:\$\d+|\?\d*|[:@]\w+|%s|%\(\w+\)s|null|default|true|false|now\(\)|current_timestamp)?$/i
/** SQL keywords followed by a password. */
const PASSWORD_LITERAL =
  /(\b(?:password|passwd|passphrase)\s{0,5}(?:\(\s{0,5}|\s(?:for\s{1,5}\S{1,80}\s{0,5})?(?:=\s{0,5})?(?:password\s{0,3}\(\s{0,3})?)|\bidentified\s{1,5}(?:with\s{1,5}\S{1,80}\s{1,5})?(?:by|as)\s{1,5}(?:password\s{1,5})?|\bpragma\s{1,5}(?:hex)?(?:re)?key\s{0,5}=\s{0,5}|\bas\s{1,5}\w{1,60}\s{1,5}key\s{1,5})((?:[en]|_\w{1,10})?'(?:[^'\\\n]|\\.|''|(?<=\w)'(?=\w))*'?|"(?:[^"\\\n]|\\.)*"?)/gi
/** A column, a comparison other than `=`, and a literal or list. */
const COMPARISON =
  /(?<![\w.])((?:[\w$]{1,60}\.)?["`[]?([\w$]{1,80})["`\]]?\s{0,5}(?:(?:<>|!=|<=>|[<>]=?|!?~\*?|(?<=\s)(?:not\s{1,5})?(?:i?like|rlike|regexp))\s{0,5}(?=[en]?')|(?<=\s)(?:not\s{1,5})?in\s{0,5}(?=\(\s{0,5}')))((?:[en])?'(?:[^'\\\n]|\\.|'')*'?|\([^()]*\)?)/gi
const COMPARISON_HINT = /(?:[<>]=?|!=|~\*?|like|regexp)\s{0,5}[en]?'|\bin\s{0,5}\(\s{0,5}'/i
/** `Duplicate entry 'S' for key 'users.token'`, `Incorrect integer value: 'S' for column 'pin'`. */
const VALUE_BEFORE_NAME = /((?:\bentry|\bvalue:) ')[^\n]{0,1000}?(?=' for (?:key|column) ['"`]([^'"`\n]{1,200})['"`])/gi
/** Matches every literal, with or without a column name after it, so that no part of the text is read twice. */
const ALIASED_LITERAL = /(?:[en])?'(?:[^'\\]|\\[\s\S]|'')*'?(?:(?<=')(\s{1,5}as\s{1,5}["`[]?([\w$]{1,80})))?/gi
const ALIAS_HINT = /'\s{1,5}as\s/i
/** `crypt('S', gen_salt('bf'))`, `pgp_sym_decrypt(column, 'S')`, `aes_encrypt('S', 'S')`. */
const CRYPT_CALL =
  /\b((?:crypt|pgp_(?:sym|pub)_\w{1,20}|aes_(?:en|de)crypt)\s{0,3}\()((?:[^()'"]|'(?:[^'\\]|\\.|'')*'?)+)/gi
const CRYPT_HINT = /crypt\w{0,10}\s{0,3}\(/i
const LITERAL = /[en]?'(?:[^'\\]|\\.|'')*'?/gi
/** Formats in which PostgreSQL and SQL Server print the row that violated a constraint. */
const ROW_KEY = /(\bKey \(([^()\n]{1,300})\)=\()[^\n]*?(?=\) (?:already|conflicts|is )|\)?\.?$)/gim
const INDEX_KEY = /(\bindex '([^'\n]{1,200})'\. The duplicate key value is \()[^\n]*?(?=\)?\.?$)/gim
const FAILING_ROW = /(\bFailing row contains \()[^\n]*?(?=\)?\.?$)/gm

/** Replaces SQL literals that belong to a sensitive column with `filtered`. */
export function withoutStatementLiterals(text: string, filtered: string, isSensitiveKey: IsSensitiveKey): string {
  const filter = (part: string, start: string, names: string) =>
    names.split(/[,\s]/).some(isSensitiveKey) ? start + filtered : part
  let result = text
  if (text.includes(')=(')) result = result.replace(ROW_KEY, filter)
  if (text.includes('Failing row')) result = result.replace(FAILING_ROW, `$1${filtered}`)
  if (!/['"$]/.test(result)) return result
  if (text.includes('duplicate key value')) result = result.replace(INDEX_KEY, filter)
  if (text.includes("' for ")) result = result.replace(VALUE_BEFORE_NAME, filter)
  if (/passw|passphrase|identified|pragma|attach/i.test(result)) {
    result = result.replace(PASSWORD_LITERAL, (_part, start: string) => start + filtered)
  }
  if (COMPARISON_HINT.test(result)) {
    result = result.replace(COMPARISON, (part, start: string, column: string) =>
      isSensitiveKey(column) ? start + filtered : part,
    )
  }
  if (ALIAS_HINT.test(result)) {
    result = result.replace(ALIASED_LITERAL, (part, alias: string | undefined, name: string | undefined) =>
      alias !== undefined && isSensitiveKey(name ?? '') ? filtered + alias : part,
    )
  }
  if (CRYPT_HINT.test(result)) {
    result = result.replace(CRYPT_CALL, (_, start: string, values: string) => start + values.replace(LITERAL, filtered))
  }
  return result.includes(')') ? withoutRows(result, filtered, isSensitiveKey) : result
}

/** `insert into users (name, password) values ('anna', 'S'), ('bob', 'S')`. */
function withoutRows(text: string, filtered: string, isSensitiveKey: IsSensitiveKey): string {
  let result = ''
  let copied = 0
  COLUMN_LIST.lastIndex = 0
  for (let match = COLUMN_LIST.exec(text); match; match = COLUMN_LIST.exec(text)) {
    const sensitive = match[1]?.split(',').map((column) => isSensitiveKey(column.trim())) ?? []
    if (!sensitive.includes(true)) continue
    let position = COLUMN_LIST.lastIndex
    for (let hasMore = true; hasMore; ) {
      const row = readRow(text, position, sensitive)
      for (const { start, end } of row.literals) {
        result += text.slice(copied, start) + filtered
        copied = end
      }
      position = row.end
      const next = /\s{0,20},\s{0,20}(?=\()/y
      next.lastIndex = position
      hasMore = row.end > COLUMN_LIST.lastIndex && next.test(text)
      if (hasMore) position = next.lastIndex
    }
    COLUMN_LIST.lastIndex = Math.max(COLUMN_LIST.lastIndex, position)
  }
  return result + text.slice(copied)
}

interface Row {
  literals: { start: number; end: number }[]
  end: number
}

/** Values of one row, with or without parentheses, and those assigned to a sensitive column. */
function readRow(text: string, from: number, sensitive: readonly boolean[]): Row {
  const isParenthesized = text[from] === '('
  const literals: Row['literals'] = []
  let column = 0
  let depth = 0
  let start = isParenthesized ? from + 1 : from
  let i = start
  const addValue = (end: number) => {
    const value = text.slice(start, end)
    const leadingSpaces = value.length - value.trimStart().length
    const literal = value.trim()
    if (sensitive[column] && !NOT_A_LITERAL.test(literal)) {
      literals.push({ start: start + leadingSpaces, end: start + leadingSpaces + literal.length })
    }
  }
  for (; i < text.length; i++) {
    const character = text[i]
    if (character === "'" || character === '"' || character === '$') {
      QUOTED_LITERAL.lastIndex = i
      if (QUOTED_LITERAL.test(text)) i = Math.max(i, QUOTED_LITERAL.lastIndex - 1)
    } else if (character === '(') depth++
    else if (character === ')') {
      if (depth-- === 0) break
    } else if (character === ';' && depth === 0) break
    else if (character === ',' && depth === 0) {
      addValue(i)
      column++
      start = i + 1
      if (!isParenthesized && column >= sensitive.length) break
    }
  }
  addValue(i)
  return { literals, end: Math.min(i + 1, text.length) }
}
