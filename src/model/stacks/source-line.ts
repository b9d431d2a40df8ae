import { FILTERED, type Redactor } from '../redaction/redaction.js'
import { mayContainToken } from '../redaction/token-shapes.js'

const WIDTH = 400
/** So much of a minified file's one line is looked at. */
const MOST_SCANNED = 250_000

/**
 * A line of source as it is shown: the part around the column where it is too long, and without the texts in it that
 * are secrets. Names and calls stay, because `password: hash(input)` gives nothing away.
 */
export function shownLine(line: string, column: number | null, redactor: Redactor): string {
  const from = line.length > WIDTH && column !== null ? Math.max(0, column - WIDTH / 4) : 0
  // Where a text begins can be told only from the start of the line on; what was not looked at is not shown.
  const scanned = line.slice(0, MOST_SCANNED)
  if (from >= scanned.length && from > 0) return '…'
  let shown = ''
  for (const { 0: part, index: start } of scanned.matchAll(PARTS)) {
    if (start + part.length <= from) continue
    if (shown.length > WIDTH) break
    const safe = withoutSecrets(part, scanned.slice(Math.max(0, start - NAME_LENGTH), start), redactor)
    if (start >= from) shown += safe
    else shown += safe === part ? part.slice(from - start) : FILTERED
  }
  const is_cut = shown.length > WIDTH || line.length > scanned.length
  return `${from > 0 ? '…' : ''}${shown.slice(0, WIDTH)}${is_cut ? '…' : ''}`
}

/** Texts with their quotation marks, and the code between them. One that is not closed goes on to the end. */
const PARTS = /"(?:[^"\\]|\\[\s\S]?)*(?:"|$)|'(?:[^'\\]|\\[\s\S]?)*(?:'|$)|`(?:[^`\\]|\\[\s\S]?)*(?:`|$)|[^"'`]+/g
const NAME_LENGTH = 120
/** The name that a literal is assigned to, compared with or paired with: `pw: `, `env.PW ?? `, `set('password', `. */
const NAME =
  /([\p{L}\p{N}\p{M}_$-]{1,100})["'`\]]?\s{0,5}(?:[!=]==?|\|\|=?|\?\?=?|[:=])\s{0,5}$|["'`]([\p{L}\p{N}\p{M}_$-]{1,100})["'`]\s{0,5},\s{0,5}$|\b(?:set|with)_?([A-Za-z_]{2,60})\(\s{0,5}$/u
const WORD = /[^\s(),;{}]+/g

function withoutSecrets(part: string, before: string, redactor: Redactor): string {
  const quote = /^["'`]/.exec(part)?.[0]
  if (quote === undefined) return codeWithoutSecrets(part, before, redactor)
  const is_closed = part.length > 1 && part.endsWith(quote)
  const inside = part.slice(1, is_closed ? -1 : undefined)
  const safe = inside !== '' && isSensitive(before, redactor) ? FILTERED : redactor.text(inside)
  return `${quote}${safe}${is_closed ? quote : ''}`
}

/**
 * A quotation mark in a regular expression or a comment is taken for the beginning of a text, and from there on texts
 * look like code: what is named like a secret or has the shape of one must not show there either.
 */
function codeWithoutSecrets(code: string, before: string, redactor: Redactor): string {
  if (/["'`]$/.test(before) && isSensitive(before.slice(0, -1), redactor)) return FILTERED
  const comment = COMMENT.exec(code)?.index ?? code.length
  return codeWords(code.slice(0, comment), redactor) + redactor.text(code.slice(comment))
}

/** A comment is free text. */
const COMMENT = /(?<!:)\/\/|\/\*|^\s{0,40}[*#] /

function codeWords(code: string, redactor: Redactor): string {
  return code.replace(WORD, (word) => (word.includes('://') || mayContainToken(word) ? redactor.text(word) : word))
}

function isSensitive(before: string, redactor: Redactor): boolean {
  const [, assigned, paired, setter] = NAME.exec(before) ?? []
  const name = assigned ?? paired ?? setter
  return name !== undefined && redactor.isSensitiveKey(name)
}
