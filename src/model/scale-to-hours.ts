import { startOfHour } from './time.js'

export interface StoredCount {
  /** Start of the bar. */
  start: number
  count: number
}

/**
 * Scales counts of stored occurrences to the exact number of occurrences in their hour, because only the newest
 * occurrences of an error are stored. Rounds cumulatively, so that the sum of an hour stays exact. Changes nothing if all
 * occurrences are stored.
 */
export function scaleToHours<Row extends StoredCount>(
  rows: readonly Row[],
  exactByHour: ReadonlyMap<number, number>,
): Row[] {
  const storedByHour = new Map<number, number>()
  for (const { start, count } of rows) addTo(storedByHour, startOfHour(start), count)
  const seenByHour = new Map<number, number>()
  return rows.map((row) => {
    const hour = startOfHour(row.start)
    const stored = storedByHour.get(hour) ?? 0
    const factor = stored === 0 ? 0 : (exactByHour.get(hour) ?? stored) / stored
    const before = seenByHour.get(hour) ?? 0
    addTo(seenByHour, hour, row.count)
    return { ...row, count: Math.round((before + row.count) * factor) - Math.round(before * factor) }
  })
}

function addTo(sums: Map<number, number>, key: number, count: number): void {
  sums.set(key, (sums.get(key) ?? 0) + count)
}
