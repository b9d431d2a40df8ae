import { FILTERED, type Redactor } from '../redaction/redaction.js'
import { mayContainToken } from '../redaction/token-shapes.js'

const MAX_SHOWN_LENGTH = 400
/** Characters of a minified one-line file that are scanned. */
const MAX_SCANNED_LENGTH = 250_000

/**
 * Prepares a source line for display: cuts a long line around the column and removes string literals that are secrets.
 * Names and calls are kept, because `password: hash(input)` reveals nothing.
 */
export function displayLine(line: string, column: number | null, redactor: Redactor): string {
  const from = line.length > MAX_SHOWN_LENGTH && column !== null ? Math.max(0, column - MAX_SHOWN_LENGTH / 4) : 0
  // Literals can only be located from the start of the line. Text that was not scanned is not shown.
  const scanned = line.slice(0, MAX_SCANNED_LENGTH)
  if (from >= scanned.length && from > 0) return '…'
  let shown = ''
  for (const { 0: part, index: start } of scanned.matchAll(LITERALS_AND_CODE)) {
    if (start + part.length <= from) continue
    if (shown.length > MAX_SHOWN_LENGTH) break
    const safe = withoutSecrets(part, scanned.slice(Math.max(0, start - MAX_NAME_LENGTH), start), redactor)
    if (start >= from) shown += safe
    else shown += safe === part ? part.slice(from - start) : FILTERED
  }
  const isTruncated = shown.length > MAX_SHOWN_LENGTH || line.length > scanned.length
  return `${from > 0 ? '…' : ''}${shown.slice(0, MAX_SHOWN_LENGTH)}${isTruncated ? '…' : ''}`
}

/** String literals with their quotation marks, and the code between them. An unclosed literal extends to the end. */
const LITERALS_AND_CODE =
  /"(?:[^"\\]|\\[\s\S]?)*(?:"|$)|'(?:[^'\\]|\\[\s\S]?)*(?:'|$)|`(?:[^`\\]|\\[\s\S]?)*(?:`|$)|[^"'`]+/g
const MAX_NAME_LENGTH = 120
/** Name that a literal is assigned to, compared with or paired with: `pw: `, `env.PW ?? `, `set('password', `. */
const LITERAL_NAME =
  /([\p{ID_Continue}$-]{1,100})["'`\]]?\s{0,5}(?:[!=]==?|\|\|=?|\?\?=?|[:=])\s{0,5}$|["'`]([\p{ID_Continue}$-]{1,100})["'`]\s{0,5},\s{0,5}$|\b(?:set|with)_?([A-Za-z_]{2,60})\(\s{0,5}$/u
const CODE_WORD = /[^\s(),;{}]+/g

function withoutSecrets(part: string, before: string, redactor: Redactor): string {
  const quote = /^["'`]/.exec(part)?.[0]
  if (quote === undefined) return codeWithoutSecrets(part, before, redactor)
  const isClosed = part.length > 1 && part.endsWith(quote)
  const literal = part.slice(1, isClosed ? -1 : undefined)
  const safe = literal !== '' && hasSensitiveName(before, redactor) ? FILTERED : redactor.text(literal)
  return `${quote}${safe}${isClosed ? quote : ''}`
}

/**
 * A quotation mark in a regular expression or comment looks like the start of a literal. The literals after it then
 * look like code. Secrets by name or shape must not show up there either.
 */
function codeWithoutSecrets(code: string, before: string, redactor: Redactor): string {
  if (/["'`]$/.test(before) && hasSensitiveName(before.slice(0, -1), redactor)) return FILTERED
  const comment = COMMENT.exec(code)?.index ?? code.length
  return codeWords(code.slice(0, comment), redactor) + redactor.text(code.slice(comment))
}

/** A comment is free text. */
const COMMENT = /(?<!:)\/\/|\/\*|^\s{0,40}[*#] /

function codeWords(code: string, redactor: Redactor): string {
  return code.replace(CODE_WORD, (word) => (word.includes('://') || mayContainToken(word) ? redactor.text(word) : word))
}

function hasSensitiveName(before: string, redactor: Redactor): boolean {
  const [, assigned, paired, setter] = LITERAL_NAME.exec(before) ?? []
  const name = assigned ?? paired ?? setter
  return name !== undefined && redactor.isSensitiveKey(name)
}
