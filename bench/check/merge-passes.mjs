import { median } from '../harness/measure.mjs'
import { row } from '../harness/report.mjs'

/**
 * Merges the tables of repeated passes into one list: medians, and `noise`, the spread of the ratios of a row relative
 * to their median. A table that a pass skipped stays skipped.
 */
export function mergePasses(passes) {
  return passes[0].map((table) => {
    const repeats = passes.flat().filter(({ suite, title }) => suite === table.suite && title === table.title)
    const seconds = repeats.reduce((sum, repeat) => sum + repeat.seconds, 0)
    const skipped = repeats.find((repeat) => repeat.skipped !== null)
    if (skipped) return { ...skipped, rows: [], seconds }
    return { ...table, seconds, rows: table.rows.map(({ name }) => mergeRow(name, repeats)) }
  })
}

function mergeRow(name, repeats) {
  const rows = repeats.flatMap((repeat) => repeat.rows.filter((entry) => entry.name === name))
  const ratios = rows.map(({ ratio }) => ratio)
  const last = rows.at(-1)
  if (typeof last.figure !== 'number') return { ...last, noise: null }
  const ratio = last.ratio === null ? null : median(ratios)
  const noise = ratio === null ? null : (Math.max(...ratios) - Math.min(...ratios)) / ratio
  const bound = last.bound === null ? null : median(rows.map((entry) => entry.bound))
  return { ...row({ ...last, figure: median(rows.map(({ figure }) => figure)), ratio, bound }), noise }
}
