import { FILTERED, type Redactor } from '../model/redaction.js'

const WIDTH = 400
/** So much of a minified file's one line is looked at for secrets, so that none is cut in half and missed. */
const WINDOW = 4000

/**
 * A line of source as it is shown: the part around the column where it is too long, and without the texts in it that
 * are secrets. Names and calls stay, because `password: hash(input)` gives nothing away.
 */
export function shownLine(line: string, column: number | null, redactor: Redactor): string {
  const from = line.length > WIDTH && column !== null ? Math.max(0, column - WIDTH / 4) : 0
  const start = Math.max(0, from - WINDOW / 2)
  // All of it at once, because a cut through the middle of a text hides its end from the filter.
  const whole = withoutSecrets(line.slice(start, from + WINDOW), redactor)
  const shown = whole.slice(withoutSecrets(line.slice(start, from), redactor).length)
  return `${from > 0 ? '…' : ''}${shown.length > WIDTH ? `${shown.slice(0, WIDTH)}…` : shown}`
}

/** A text between quotation marks, with the name it is given to where that stands right before it. */
const TEXT = /(?:([\w$-]{1,100})["'\]]?\s{0,5}[:=]\s{0,5})?("(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'|`(?:[^`\\]|\\.)*`)/g

function withoutSecrets(line: string, redactor: Redactor): string {
  return line.replace(TEXT, (whole: string, name: string | undefined, text: string) => {
    const start = whole.slice(0, whole.length - text.length)
    const inside = text.slice(1, -1)
    const safe = name !== undefined && inside !== '' && redactor.isSensitiveKey(name) ? FILTERED : redactor.text(inside)
    return `${start}${text[0]}${safe}${text[0]}`
  })
}
