/** Longer files are not scanned, nor are generated files, which have long lines. */
const MAX_SCANNED_LENGTH = 200_000
const LONG_LINE = /[^\n]{2000}/

/**
 * Returns the opening characters of a comment or template literal that is still open at the end of the code. Needed to
 * highlight the lines that follow.
 */
export function openConstruct(code: string): '' | '/*' | '`' {
  if (code.length > MAX_SCANNED_LENGTH || LONG_LINE.test(code)) return ''
  // Number of open braces in each enclosing template expression.
  const braces: number[] = []
  let last = ''
  TOKEN.lastIndex = 0
  for (let token = TOKEN.exec(code); token; token = TOKEN.exec(code)) {
    const [text] = token
    if (text === '/*') {
      const end = code.indexOf('*/', TOKEN.lastIndex)
      if (end < 0) return '/*'
      TOKEN.lastIndex = end + 2
      continue
    }
    if (text.startsWith('//')) continue
    if (text === '/' && startsRegexp(last)) skipRegexp(code)
    if (text === '`' || (text === '}' && braces.at(-1) === 0)) {
      if (text === '}') braces.pop()
      const end = endOfTemplate(code, TOKEN.lastIndex)
      if (end < 0) return '`'
      if (code[end] === '{') braces.push(0)
      TOKEN.lastIndex = end + 1
    } else if (text === '{' && braces.length > 0) braces.push((braces.pop() ?? 0) + 1)
    else if (text === '}' && braces.length > 0) braces.push((braces.pop() ?? 1) - 1)
    last = text
  }
  return ''
}

/** Names, numbers, strings, comments and single characters. */
const TOKEN = /[\w$]+|"(?:[^"\\\n]|\\[\s\S])*"?|'(?:[^'\\\n]|\\[\s\S])*'?|\/\/[^\n]*|\/\*|[^\s\w$]/g
const BEFORE_REGEXP = /^(?:[=(,:[!&|?{};+*%~^<>-]|return|typeof|case|in|of|do|else|void|delete|throw|await|yield|)$/
/** Bounded repetition, because hostile code could cause quadratic time. */
const REGEXP = /(?:[^\\/[\n]|\\[^\n]|\[(?:[^\]\\\n]|\\[^\n]){0,100}\]){1,300}\/[\w$]*/y

/** Checks whether a slash starts a regular expression, in which quotes have no meaning. */
function startsRegexp(last: string): boolean {
  return BEFORE_REGEXP.test(last)
}

function skipRegexp(code: string): void {
  REGEXP.lastIndex = TOKEN.lastIndex
  if (REGEXP.test(code)) TOKEN.lastIndex = REGEXP.lastIndex
}

/** Returns the index of the backtick or `${` brace that ends a part of a template literal, or -1. */
function endOfTemplate(code: string, start: number): number {
  for (let i = start; i < code.length; i++) {
    if (code[i] === '\\') i++
    else if (code[i] === '`') return i
    else if (code[i] === '$' && code[i + 1] === '{') return i + 1
  }
  return -1
}
