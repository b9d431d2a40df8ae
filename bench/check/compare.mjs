import { isLeftOut } from './accepted.mjs'

/** Smaller changes never count. The ratios of two idle runs differ by up to this share. */
const MIN_NOISE = 0.03

/** Verdicts that make the check fail. A renamed row counts as missing, so that renaming cannot hide a regression. */
const FAILURES = new Set(['regression', 'missing'])

/** Compares the ratios of a run with the accepted ratios. Only rows with a direction count. */
export function compareRun(accepted, run) {
  const suites = new Set(run.tables.map(({ suite }) => suite))
  const before = comparableEntries(
    Object.entries(accepted.suites)
      .filter(([suite]) => suites.has(suite))
      .flatMap(([suite, { tables }]) => tables.map((table) => ({ suite, ...table }))),
  )
  const now = comparableEntries(run.tables)
  const compared = [...before].map(([key, entry]) => {
    const measured = now.get(key)
    if (measured) return { ...rowIdentity(entry), ...compareRow(entry.row, measured.row) }
    const verdict = isLeftOut(entry, run) ? 'not measured' : 'missing'
    return { ...rowIdentity(entry), accepted: entry.row.ratio, now: null, change: null, noise: null, verdict }
  })
  const added = [...now].filter(([key]) => !before.has(key))
  const newEntry = { accepted: null, change: null, verdict: 'new' }
  return [
    ...compared,
    ...added.map(([, entry]) => ({ ...rowIdentity(entry), ...newEntry, now: entry.row.ratio, noise: entry.row.noise })),
  ]
}

/**
 * Compares two medians. The noise is the sum of the spreads of both runs. With the larger spread alone, one of 30 rows
 * would regress by chance after three passes.
 */
export function compareRow(accepted, now) {
  const change = now.ratio / accepted.ratio - 1
  const noise = Math.max(MIN_NOISE, (accepted.noise ?? 0) + (now.noise ?? 0))
  const degradation = accepted.better === 'higher' ? -change : change
  // A failed measurement has no valid ratio.
  const isWorse = !(degradation <= noise)
  const verdict = isWorse ? 'regression' : degradation < -noise ? 'improved' : 'same'
  return { accepted: accepted.ratio, now: now.ratio, change, noise, verdict }
}

export function hasFailed(entries) {
  return entries.some(({ verdict }) => FAILURES.has(verdict))
}

/** Prints the entries as a table, grouped by the tables of the suites, and the next step. */
export function printComparison(entries, print = console.log) {
  const head = ['', 'accepted', 'now', 'change', 'noise', '']
  const lines = entries.map(({ name, accepted, now, change, noise, verdict }) => [
    ...[name, ratioText(accepted), ratioText(now), percentText(change, true), percentText(noise)],
    verdict,
  ])
  const widths = head.map((text, i) => Math.max(text.length, ...lines.map((cells) => cells[i].length)))
  const aligned = (cells) =>
    cells.map((text, i) => (i === 0 || i === 5 ? text.padEnd(widths[i]) : text.padStart(widths[i]))).join('  ')
  print(`\n${aligned(head).trimEnd()}`)
  let title = null
  for (const [i, entry] of entries.entries()) {
    if (entry.title !== title) print(`${entry.suite}: ${entry.title}`)
    title = entry.title
    print(aligned(lines[i]).trimEnd())
  }
  print(`\n${nextStep(entries)}`)
}

export function nextStep(entries) {
  const count = (expected) => entries.filter(({ verdict }) => verdict === expected).length
  const [regressions, missing, improved] = ['regression', 'missing', 'improved'].map(count)
  const accept = 'accept with npm run bench -- --accept and give the reason in the commit.'
  if (regressions > 0) return `${plural(regressions, 'regression')}. Fix ${itOrThem(regressions)}, or ${accept}`
  if (missing > 0) return `${plural(missing, 'missing row')}. Restore ${itOrThem(missing)}, or ${accept}`
  if (improved > 0) return `No regressions. ${plural(improved, 'improvement')}: ${accept}`
  return 'No regressions.'
}

function comparableEntries(tables) {
  return new Map(
    tables.flatMap(({ suite, title, rows }) =>
      rows
        .filter(({ ratio, better }) => ratio !== null && better !== null)
        .map((row) => [JSON.stringify([suite, title, row.name]), { suite, title, row }]),
    ),
  )
}

function rowIdentity({ suite, title, row }) {
  return { suite, title, name: row.name }
}

function ratioText(value) {
  return value === null ? '' : value.toFixed(2)
}

function percentText(value, isSigned = false) {
  if (value === null) return ''
  const text = `${Math.abs(value * 100).toFixed(0)}%`
  return isSigned ? `${value < 0 ? '-' : '+'}${text}` : text
}

function plural(count, noun) {
  return `${count} ${noun}${count === 1 ? '' : 's'}`
}

function itOrThem(count) {
  return count === 1 ? 'it' : 'them'
}
