const QUOTES = new Set(["'", '"'])

/** The end of a text, template or regular expression that begins here, or this place where none does. */
export function literalEnd(source: string, at: number, last: string, word: string): number {
  const here = source[at] ?? ''
  if (QUOTES.has(here)) return quotedEnd(source, at, here)
  if (here === '`') return templateEnd(source, at)
  if (here === '/' && isRegExpPlace(last, word)) return regExpEnd(source, at)
  return at
}

function quotedEnd(source: string, at: number, quote: string): number {
  for (let i = at + 1; i < source.length && source[i] !== '\n'; i++) {
    if (source[i] === '\\') i++
    else if (source[i] === quote) return i + 1
  }
  return at
}

function templateEnd(source: string, at: number): number {
  for (let i = at + 1; i < source.length; i++) {
    if (source[i] === '\\') i++
    else if (source[i] === '`') return i + 1
    else if (source.startsWith('${', i)) i = expressionEnd(source, i + 2)
  }
  return source.length
}

/** The brace that ends an expression in a template, which may hold texts and templates itself. */
function expressionEnd(source: string, at: number): number {
  let depth = 1
  for (let i = at; i < source.length; i++) {
    const end = source[i] === '/' ? i : literalEnd(source, i, '', '')
    if (end > i) {
      i = end - 1
      continue
    }
    if (source[i] === '{') depth++
    if (source[i] === '}' && --depth === 0) return i
  }
  return source.length
}

function isRegExpPlace(last: string, word: string): boolean {
  if (word !== '') return /^(return|typeof|case|in|of|delete|void|throw|new|await|yield|else|do)$/.test(word)
  return last === '' || '(,=:[!&|?{};+-*%~^<>'.includes(last)
}

function regExpEnd(source: string, at: number): number {
  let inClass = false
  for (let i = at + 1; i < source.length && source[i] !== '\n'; i++) {
    if (source[i] === '\\') i++
    else if (source[i] === '[') inClass = true
    else if (source[i] === ']') inClass = false
    else if (source[i] === '/' && !inClass) return i + 1
  }
  return at
}
