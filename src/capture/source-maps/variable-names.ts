import type { Place } from './declared-name.js'
import { offsetOf } from './declared-name.js'

/** A longer scope is the wrapper of a bundle. */
const LOOK_AHEAD = 200_000
/** The name of a variable is at its declaration, and usually at every use. */
const MOST_MENTIONS = 10
const NAME_PART = /[\p{ID_Continue}$]/u

/** First mentions of each variable between two positions of generated code. */
export function mentionsOf(code: string, from: Place, to: Place, names: readonly string[]): Map<string, Place[]> {
  const start = offsetOf(code, from.line, from.column)
  const end = Math.min(offsetOf(code, to.line, to.column), start + LOOK_AHEAD)
  const scope = code.slice(start, end)
  return new Map(names.map((name) => [name, mentions(scope, from, name)]))
}

function mentions(scope: string, from: Place, name: string): Place[] {
  const found: Place[] = []
  let { line, column } = from
  let counted = 0
  for (let at = scope.indexOf(name); at >= 0 && found.length < MOST_MENTIONS; at = scope.indexOf(name, at + 1)) {
    // Skips properties with this name and parts of longer words.
    if (/[\p{ID_Continue}$.#]/u.test(scope[at - 1] ?? ' ') || NAME_PART.test(scope[at + name.length] ?? ' ')) continue
    for (let newline = scope.indexOf('\n', counted); newline >= 0 && newline < at; ) {
      line++
      column = 1
      counted = newline + 1
      newline = scope.indexOf('\n', counted)
    }
    found.push({ line, column: column + at - counted })
  }
  return found
}
