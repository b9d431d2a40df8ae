/** Of longer files, and of those made by machines, only what is shown is looked at. */
const MOST_SCANNED = 200_000
const LONG_LINE = /[^\n]{2000}/

/**
 * What is still open where a window into JavaScript begins: a comment or a template, by the characters that open it, or
 * nothing. Without them, everything behind would be coloured as its opposite.
 */
export function openConstruct(code: string): '' | '/*' | '`' {
  if (code.length > MOST_SCANNED || LONG_LINE.test(code)) return ''
  // How many braces are open in each template's expression that we are in.
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
    if (text === '/' && mayBeginExpression(last)) skipExpression(code)
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

/** Names and numbers, texts, comments, and every other character by itself. */
const TOKEN = /[\w$]+|"(?:[^"\\\n]|\\[\s\S])*"?|'(?:[^'\\\n]|\\[\s\S])*'?|\/\/[^\n]*|\/\*|[^\s\w$]/g
const BEFORE_EXPRESSION = /^(?:[=(,:[!&|?{};+*%~^<>-]|return|typeof|case|in|of|do|else|void|delete|throw|await|yield|)$/
/** With bounds, because each slash of a hostile line would look through the rest of it. */
const EXPRESSION = /(?:[^\\/[\n]|\\[^\n]|\[(?:[^\]\\\n]|\\[^\n]){0,100}\]){1,300}\/[\w$]*/y

/** Whether a slash is the beginning of a regular expression, in which quotation marks mean nothing, or divides. */
function mayBeginExpression(last: string): boolean {
  return BEFORE_EXPRESSION.test(last)
}

function skipExpression(code: string): void {
  EXPRESSION.lastIndex = TOKEN.lastIndex
  if (EXPRESSION.test(code)) TOKEN.lastIndex = EXPRESSION.lastIndex
}

/** The place of the backtick, or of the brace of `${`, that ends this part of a template; -1 where there is none. */
function endOfTemplate(code: string, from: number): number {
  for (let i = from; i < code.length; i++) {
    if (code[i] === '\\') i++
    else if (code[i] === '`') return i
    else if (code[i] === '$' && code[i + 1] === '{') return i + 1
  }
  return -1
}
