type Lines = readonly string[]

/** Longer stretches of changes are not looked into: the host's thread has other things to do. */
const MOST_LINES = 10_000
const MOST_ROUNDS = 40

/**
 * The line of `before` that became this line of `now`; `new` for one whose text was nowhere before, and `unclear` for one
 * that cannot be placed: its text was there, but it may be another line that says the same.
 *
 * @example
 * lineBefore(['new()', 'a()', 'b(2)'], ['a()', 'b(1)'], 2) // 1
 */
export function lineBefore(now: Lines, before: Lines, line: number): number | 'new' | 'unclear' {
  let piece: Piece = { now, before, index: line - 1, skipped: 0 }
  for (let round = 0; round < MOST_ROUNDS; round++) {
    const { head, tail } = sameEnds(piece)
    const { now, before, index, skipped } = piece
    if (index < head) return skipped + index + 1
    if (index >= now.length - tail) return skipped + before.length - now.length + index + 1
    const changed: Piece = {
      now: now.slice(head, now.length - tail),
      before: before.slice(head, before.length - tail),
      index: index - head,
      skipped: skipped + head,
    }
    if (changed.now.length + changed.before.length > MOST_LINES) break
    const inner = betweenAnchors(changed)
    if (inner === null) break
    piece = inner
  }
  return before.includes(now[line - 1] ?? '') ? 'unclear' : 'new'
}

/** A stretch of both files in which the line lies, and how many lines of the earlier one are in front of it. */
interface Piece {
  now: Lines
  before: Lines
  index: number
  skipped: number
}

/** How many lines both begin with, and how many of the others both end with. */
function sameEnds({ now, before }: Piece): { head: number; tail: number } {
  const most = Math.min(now.length, before.length)
  let head = 0
  while (head < most && now[head] === before[head]) head++
  let tail = 0
  while (tail < most - head && now.at(-1 - tail) === before.at(-1 - tail)) tail++
  return { head, tail }
}

/** The stretch around the line that begins and ends where both files surely have the same line; null without such. */
function betweenAnchors({ now, before, index, skipped }: Piece): Piece | null {
  const anchors = inOrder(sharedOnce(now, before))
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

/** The lines that stand once in each, in the order in which they stand now. */
function sharedOnce(now: Lines, before: Lines): Anchor[] {
  const places = onceIn(before)
  return [...onceIn(now)].flatMap(([text, at]) => {
    const place = places.get(text) ?? -1
    return at >= 0 && place >= 0 ? [{ now: at, before: place }] : []
  })
}

/** Where each line stands; -1 for those that stand there more than once. */
function onceIn(lines: Lines): Map<string, number> {
  const places = new Map<string, number>()
  for (const [i, text] of lines.entries()) places.set(text, places.has(text) ? -1 : i)
  return places
}

/** The longest row of them whose order is the same in both: the others were moved. */
function inOrder(anchors: readonly Anchor[]): Anchor[] {
  interface Row extends Anchor {
    previous: Row | null
  }
  /** The rows of each length whose end leaves the most room. */
  const rows: Row[] = []
  for (const anchor of anchors) {
    let low = 0
    for (let high = rows.length; low < high; ) {
      const middle = (low + high) >> 1
      if ((rows[middle] as Row).before < anchor.before) low = middle + 1
      else high = middle
    }
    rows[low] = { ...anchor, previous: rows[low - 1] ?? null }
  }
  const found: Anchor[] = []
  for (let row = rows.at(-1) ?? null; row; row = row.previous) found.push(row)
  return found.reverse()
}
