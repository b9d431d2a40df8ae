import type { CodePosition } from './declared-name.js'
import { positionToOffset } from './declared-name.js'

/** Longer scopes are wrappers of a bundle. */
const MAX_LOOKAHEAD_LENGTH = 200_000
/** The map contains the original name at the declaration, and usually at every use. */
const MAX_MENTIONS = 10
const NAME_PART = /[\p{ID_Continue}$]/u

/** First uses of each variable between two positions of generated code. */
export function findMentions(
  code: string,
  from: CodePosition,
  to: CodePosition,
  names: readonly string[],
): Map<string, CodePosition[]> {
  const start = positionToOffset(code, from.line, from.column)
  const end = Math.min(positionToOffset(code, to.line, to.column), start + MAX_LOOKAHEAD_LENGTH)
  const scope = code.slice(start, end)
  return new Map(names.map((name) => [name, mentionsOfName(scope, from, name)]))
}

function mentionsOfName(scope: string, from: CodePosition, name: string): CodePosition[] {
  const found: CodePosition[] = []
  let { line, column } = from
  let lineStart = 0
  for (
    let index = scope.indexOf(name);
    index >= 0 && found.length < MAX_MENTIONS;
    index = scope.indexOf(name, index + 1)
  ) {
    // Skips properties with this name and parts of longer words.
    if (/[\p{ID_Continue}$.#]/u.test(scope[index - 1] ?? ' ') || NAME_PART.test(scope[index + name.length] ?? ' '))
      continue
    for (let newline = scope.indexOf('\n', lineStart); newline >= 0 && newline < index; ) {
      line++
      column = 1
      lineStart = newline + 1
      newline = scope.indexOf('\n', lineStart)
    }
    found.push({ line, column: column + index - lineStart })
  }
  return found
}
