import { existsSync, readFileSync, writeFileSync } from 'node:fs'

const FILE = new URL('../accepted.json', import.meta.url)

/** Returns the accepted results of each suite, or null if none were accepted yet. */
export function readAccepted() {
  return existsSync(FILE) ? JSON.parse(readFileSync(FILE, 'utf8')) : null
}

export function writeAccepted(accepted) {
  writeFileSync(FILE, `${JSON.stringify(accepted, null, 2)}\n`)
}

/**
 * Replaces the tables that a run measured. Suites that did not run and tables that the run left out keep their
 * accepted values. Each suite stores how it ran, because the check repeats it in the same way.
 */
export function acceptRun(accepted, run) {
  const suites = {}
  for (const suite of new Set([...Object.keys(accepted?.suites ?? {}), ...run.tables.map(({ suite }) => suite)])) {
    const before = accepted?.suites[suite]
    const measured = run.tables.filter((table) => table.suite === suite && table.skipped === null)
    if (measured.length === 0) {
      if (before) suites[suite] = before
      continue
    }
    const titles = new Set(measured.map(({ title }) => title))
    const keptTables = (before?.tables ?? []).filter(
      ({ title }) => !titles.has(title) && isLeftOut({ suite, title }, run),
    )
    const { started_at, repeat, machine } = run
    const { quick, large } = run.modes[suite]
    const tables = [...measured.map(acceptTable), ...keptTables]
    suites[suite] = { accepted_at: started_at, quick, large, repeat, machine, tables }
  }
  return { suites }
}

/** Returns true if a table is absent from a run because its database was missing or not selected. */
export function isLeftOut({ suite, title }, { tables, all_databases }) {
  if (!all_databases) return true
  return tables.some((table) => table.suite === suite && table.skipped !== null && title.startsWith(table.title))
}

function acceptTable({ title, rows }) {
  const comparable = rows.filter(({ ratio, limit }) => ratio !== null || limit !== null)
  const invalid = comparable.find(({ ratio }) => ratio !== null && !(ratio > 0 && Number.isFinite(ratio)))
  if (invalid)
    throw new Error(`"${title}: ${invalid.name}" has no valid ratio. Fix its measurement, then accept again.`)
  const names = comparable.map(({ name }) => name)
  const duplicate = names.find((name, i) => names.indexOf(name) !== i)
  if (duplicate) throw new Error(`"${title}" has two rows named "${duplicate}". Rename one of them.`)
  return { title, rows: comparable.map(acceptRow) }
}

function acceptRow({ name, figure, unit, ratio, against, noise, judged, limit, bound, better, note }) {
  return {
    ...{ name, figure: roundFigure(figure), unit, ratio: roundFigure(ratio), against, noise: roundFigure(noise) },
    ...{ judged, limit, bound: roundFigure(bound), better, note },
  }
}

/** Keeps four significant digits. */
function roundFigure(value) {
  return typeof value === 'number' ? Number(value.toPrecision(4)) : value
}
