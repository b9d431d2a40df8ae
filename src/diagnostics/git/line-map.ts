/**
 * The line of `before` that became this line of `now`, or null for one that is new: what both begin and end with is the
 * same, and what lies between was changed.
 */
export function lineBefore(now: readonly string[], before: readonly string[], line: number): number | null {
  let same = 0
  while (same < now.length && same < before.length && now[same] === before[same]) same++
  if (line <= same) return line
  const most = Math.min(now.length, before.length) - same
  let tail = 0
  while (tail < most && now.at(-1 - tail) === before.at(-1 - tail)) tail++
  return line > now.length - tail ? line - now.length + before.length : null
}
