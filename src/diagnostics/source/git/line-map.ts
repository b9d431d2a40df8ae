type Lines = readonly string[]

/** Limits the time on the host's thread. */
const MAX_LINES = 10_000
const MAX_ROUNDS = 40

/**
 * Finds the line of `before` that corresponds to a line of `now`. Returns `new` if the text did not exist before, and
 * `unclear` if it existed but the correspondence is ambiguous.
 *
 * @example
 * lineBefore(['new()', 'a()', 'b(2)'], ['a()', 'b(1)'], 2) // 1
 */
export function lineBefore(now: Lines, before: Lines, line: number): number | 'new' | 'unclear' {
  let section: Section = { now, before, index: line - 1, skipped: 0 }
  for (let round = 0; round < MAX_ROUNDS; round++) {
    const { head, tail } = commonEnds(section)
    const { now, before, index, skipped } = section
    if (index < head) return skipped + index + 1
    if (index >= now.length - tail) return skipped + before.length - now.length + index + 1
    const changed: Section = {
      now: now.slice(head, now.length - tail),
      before: before.slice(head, before.length - tail),
      index: index - head,
      skipped: skipped + head,
    }
    if (changed.now.length + changed.before.length > MAX_LINES) break
    const inner = betweenAnchors(changed)
    if (inner === null) break
    section = inner
  }
  return before.includes(now[line - 1] ?? '') ? 'unclear' : 'new'
}

/** Section of both files that contains the line. `skipped` is the number of earlier lines of `before`. */
interface Section {
  now: Lines
  before: Lines
  index: number
  skipped: number
}

/** Counts the common lines at the start and at the end. */
function commonEnds({ now, before }: Section): { head: number; tail: number } {
  const limit = Math.min(now.length, before.length)
  let head = 0
  while (head < limit && now[head] === before[head]) head++
  let tail = 0
  while (tail < limit - head && now.at(-1 - tail) === before.at(-1 - tail)) tail++
  return { head, tail }
}

/** Narrows a section to the nearest anchors around the line. Null without anchors. */
function betweenAnchors({ now, before, index, skipped }: Section): Section | null {
  const anchors = longestIncreasing(uniqueInBoth(now, before))
  if (anchors.length === 0) return null
  const from = anchors.findLast((anchor) => anchor.now <= index) ?? { now: 0, before: 0 }
  const to = anchors.find((anchor) => anchor.now > index) ?? { now: now.length, before: before.length }
  return {
    now: now.slice(from.now, to.now),
    before: before.slice(from.before, to.before),
    index: index - from.now,
    skipped: skipped + from.before,
  }
}

interface Anchor {
  now: number
  before: number
}

/** Returns lines that occur exactly once in each file, in the order of `now`. */
function uniqueInBoth(now: Lines, before: Lines): Anchor[] {
  const indexes = uniqueLines(before)
  return [...uniqueLines(now)].flatMap(([text, nowIndex]) => {
    const beforeIndex = indexes.get(text) ?? -1
    return nowIndex >= 0 && beforeIndex >= 0 ? [{ now: nowIndex, before: beforeIndex }] : []
  })
}

/** Returns the index of each line, or -1 for repeated lines. */
function uniqueLines(lines: Lines): Map<string, number> {
  const indexes = new Map<string, number>()
  for (const [i, text] of lines.entries()) indexes.set(text, indexes.has(text) ? -1 : i)
  return indexes
}

/** Returns the longest sequence with the same order in both files. Other lines were moved. */
function longestIncreasing(anchors: readonly Anchor[]): Anchor[] {
  interface Chain extends Anchor {
    previous: Chain | null
  }
  /** For each length, the chain with the smallest last index. */
  const chains: Chain[] = []
  for (const anchor of anchors) {
    let low = 0
    for (let high = chains.length; low < high; ) {
      const middle = (low + high) >> 1
      if ((chains[middle] as Chain).before < anchor.before) low = middle + 1
      else high = middle
    }
    chains[low] = { ...anchor, previous: chains[low - 1] ?? null }
  }
  const found: Anchor[] = []
  for (let chain = chains.at(-1) ?? null; chain; chain = chain.previous) found.push(chain)
  return found.reverse()
}
