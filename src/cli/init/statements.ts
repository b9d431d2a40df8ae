import { closingOf } from './masked-source.js'

/** One statement at the top level of a file: its lines, and its text without comments. */
export interface Statement {
  /** First line, from 0. */
  readonly start: number
  /** The line after its last. */
  readonly end: number
  /** With all texts made unreadable. */
  readonly masked: string
  readonly text: string
}

/** The statements at the top level, by lines; one line with two statements is one, and so is what may go on. */
export function statementsOf(source: string, masked: string): Statement[] {
  const lines = masked.split('\n')
  const readable = withoutComments(source, masked).split('\n')
  const found: { start: number; end: number }[] = []
  let depth = 0
  let isInTemplate = false
  lines.forEach((line, index) => {
    const code = line.trim()
    if (code === '') return
    const current = found.at(-1)
    const before = () => lines.slice(current?.start, current?.end).join('\n').trim()
    if (current && (depth > 0 || isInTemplate || continues(before(), code))) current.end = index + 1
    else found.push({ start: index, end: index + 1 })
    for (const character of code) {
      if ('([{'.includes(character)) depth++
      if (')]}'.includes(character)) depth--
      if (character === '`') isInTemplate = !isInTemplate
    }
  })
  return found.map(({ start, end }) => ({
    start,
    end,
    masked: lines.slice(start, end).join('\n').trim(),
    text: readable.slice(start, end).join('\n').trim(),
  }))
}

/** The source with blanks for its comments. */
export function withoutComments(source: string, masked: string): string {
  return source.replace(/[^\n]/g, (character, at: number) => (masked[at] === ' ' ? ' ' : character))
}

const GOES_ON = /^(\.(?!\.\.)|\?|:|[&|^]|[+\-*/%=,<>](?!\+|-)|(else|catch|finally)\b|;$)/
const GOES_ON_AS_WORD = /^(in|instanceof|as|satisfies|extends|implements|from|with|assert)\b(?!\s*[(.=])/
const IS_NOT_DONE = /(=>|[=+\-*/%&|^,.?:<(!~])$/
const IS_NOT_DONE_BY_WORD =
  /(?<![\w$.])(else|do|try|finally|await|return|throw|yield|default|export|import|new|typeof|void|delete|in|of|instanceof|as|satisfies|extends|implements|from|async|function|class|const|let|var)$/

/** Whether a line goes on with what the lines before it began, at the same depth; where that is not sure, it does. */
function continues(before: string, code: string): boolean {
  if (GOES_ON.test(code) || GOES_ON_AS_WORD.test(code)) return true
  if (IS_NOT_DONE.test(before) || IS_NOT_DONE_BY_WORD.test(before) || endsInHead(before)) return true
  if (/^while\b/.test(code)) return /^do\b/.test(before)
  return /^[{([`]/.test(code) && !before.endsWith(';')
}

/** Whether the last thing is the head of a statement, `if (…)`, or a decorator, whose body is yet to come. */
function endsInHead(before: string): boolean {
  if (!before.endsWith(')')) return false
  const heads = before.matchAll(/(?:(?<![\w$.])(?:if|while|with|for(?:\s+await)?)|@[\w$.]+)\s*\(/g)
  return [...heads].some((head) => closingOf(before, head.index + head[0].length - 1) === before.length - 1)
}
