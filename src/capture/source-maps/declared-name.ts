/** A longer function is the wrapper of a bundle; searching further back would only cost time. */
const LOOK_BACK = 500_000
/** Room for `async function *` and for the parameters of an arrow function. */
const BEFORE = 24
const BEHIND = 400

const NAME_PART = /[\p{ID_Continue}$.#]/u
const DECLARED_BY = /(?:^|[^\p{ID_Continue}$.])(?:function\s*\*?|class)\s*$/u
const GIVEN_TO =
  /^\s*=\s*(?:async\s*)?(?:function\b|class\b|[\p{ID_Start}$_][\p{ID_Continue}$]*\s*=>|\((?:[^()]|\([^()]*\))*\)\s*=>)/u

/**
 * Finds the nearest declaration of this function or class before an offset in generated code. Null if there is none,
 * as for a method.
 */
export function declarationOf(code: string, offset: number, name: string): number | null {
  const end = Math.max(0, offset - LOOK_BACK)
  for (let at = code.lastIndexOf(name, offset); at >= end; at = at === 0 ? -1 : code.lastIndexOf(name, at - 1)) {
    const behind = at + name.length
    // Two characters rule out most positions; a regular expression per position would be much slower.
    const before = code[at - 1] ?? ' '
    const next = code[behind] ?? ' '
    if (isSpace(before) || before === '*') {
      if (NAME_PART.test(next)) continue
      if (DECLARED_BY.test(code.slice(Math.max(0, at - BEFORE), at))) return at
    }
    if ((next === '=' || isSpace(next)) && !NAME_PART.test(before)) {
      if (GIVEN_TO.test(code.slice(behind, behind + BEHIND))) return at
    }
  }
  return null
}

/** Offset of a position. Line and column are 1-based, as in V8. */
export function offsetOf(code: string, line: number, column: number): number {
  let start = 0
  for (let passed = 1; passed < line; passed++) {
    const newline = code.indexOf('\n', start)
    if (newline < 0) break
    start = newline + 1
  }
  return start + column - 1
}

export function positionAt(code: string, offset: number): { line: number; column: number } {
  let line = 1
  let start = 0
  for (let next = code.indexOf('\n'); next >= 0 && next < offset; next = code.indexOf('\n', start)) {
    line++
    start = next + 1
  }
  return { line, column: offset - start + 1 }
}

function isSpace(letter: string): boolean {
  return letter === ' ' || letter === '\n' || letter === '\t' || letter === '\r'
}

/** A place in generated code; both count from one, as V8 writes them. */
export interface Place {
  line: number
  column: number
}
