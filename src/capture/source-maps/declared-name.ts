/** Limits the backward search. A longer function is the wrapper of a bundle. */
const MAX_LOOKBACK_LENGTH = 500_000
/** Room for `async function *` and for the parameters of an arrow function. */
const MAX_PREFIX_LENGTH = 24
const MAX_SUFFIX_LENGTH = 400

const NAME_PART = /[\p{ID_Continue}$.#]/u
const DECLARATION_PREFIX = /(?:^|[^\p{ID_Continue}$.])(?:function\s*\*?|class)\s*$/u
const ASSIGNMENT_SUFFIX =
  /^\s*=\s*(?:async\s*)?(?:function\b|class\b|[\p{ID_Start}$_][\p{ID_Continue}$]*\s*=>|\((?:[^()]|\([^()]*\))*\)\s*=>)/u

/**
 * Finds the nearest declaration of this function or class before an offset in generated code. Null without a
 * declaration, as for a method.
 */
export function findDeclaration(code: string, offset: number, name: string): number | null {
  const end = Math.max(0, offset - MAX_LOOKBACK_LENGTH)
  for (
    let index = code.lastIndexOf(name, offset);
    index >= end;
    index = index === 0 ? -1 : code.lastIndexOf(name, index - 1)
  ) {
    const nameEnd = index + name.length
    // Rules out most positions by two characters, because a regular expression per position is much slower.
    const before = code[index - 1] ?? ' '
    const next = code[nameEnd] ?? ' '
    if (isSpace(before) || before === '*') {
      if (NAME_PART.test(next)) continue
      if (DECLARATION_PREFIX.test(code.slice(Math.max(0, index - MAX_PREFIX_LENGTH), index))) return index
    }
    if ((next === '=' || isSpace(next)) && !NAME_PART.test(before)) {
      if (ASSIGNMENT_SUFFIX.test(code.slice(nameEnd, nameEnd + MAX_SUFFIX_LENGTH))) return index
    }
  }
  return null
}

/** Offset of a position. Line and column are 1-based, as in V8. */
export function positionToOffset(code: string, line: number, column: number): number {
  let start = 0
  for (let lineNumber = 1; lineNumber < line; lineNumber++) {
    const newline = code.indexOf('\n', start)
    if (newline < 0) break
    start = newline + 1
  }
  return start + column - 1
}

export function offsetToPosition(code: string, offset: number): { line: number; column: number } {
  let line = 1
  let start = 0
  for (let next = code.indexOf('\n'); next >= 0 && next < offset; next = code.indexOf('\n', start)) {
    line++
    start = next + 1
  }
  return { line, column: offset - start + 1 }
}

function isSpace(character: string): boolean {
  return character === ' ' || character === '\n' || character === '\t' || character === '\r'
}

/** Position in generated code. Line and column are 1-based, as in V8. */
export interface CodePosition {
  line: number
  column: number
}
