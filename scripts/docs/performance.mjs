import { figureText, limitText, ratioText, verdictOf } from '../../bench/harness/report.mjs'
import { tableRow } from './table-row.mjs'

const COLUMN_HEADINGS = ['', 'figure', 'ratio', 'noise', 'target', 'target met']

/**
 * Renders docs/performance.md: replaces each `{{suite}}` of the template with the accepted tables of that suite. All
 * figures of the page come from bench/accepted.json.
 */
export function performance({ suites: { comparison: _comparison, ...suites } }, template) {
  const missing = Object.keys(suites).filter((name) => !template.includes(`{{${name}}}`))
  if (missing.length > 0)
    throw new Error(`The template of docs/performance.md has no placeholder for ${missing.join(', ')}.`)
  return template.replace(/\{\{(\w+)\}\}/g, (_, name) =>
    suites[name] ? suiteText(name, suites[name]) : missingResultsText(name),
  )
}

function suiteText(name, suite) {
  return [conditions(name, suite), ...suite.tables.map(tableText)].join('\n\n')
}

function missingResultsText(name) {
  return `No results accepted yet. Measure with \`npm run bench -- ${name}\`.`
}

function conditions(name, { accepted_at, quick, large, repeat, machine }) {
  const flags = [quick && '--quick', large && '--large'].filter(Boolean).map((flag) => ` ${flag}`)
  return (
    `Measured on ${accepted_at.slice(0, 10)} with \`npm run bench -- ${name}${flags.join('')} --accept\`: median of ${repeat}, ` +
    `Node.js ${machine.node.slice(1)}, ${machine.cores} cores (${machine.cpu}), load ${machine.load[0]} at the start.`
  )
}

function tableText({ title, rows }) {
  const notes = [...new Set(rows.map(({ note }) => note).filter(Boolean))]
  const lines = [
    tableRow(COLUMN_HEADINGS),
    `|${COLUMN_HEADINGS.map(() => '---|').join('')}`,
    ...rows.map((row) => tableRow(rowCells(row))),
  ]
  return [`### ${title}`, lines.join('\n'), ...notes].join('\n\n')
}

const TARGET_TEXTS = { ok: 'yes', missed: '**no**', '': '' }

function rowCells(row) {
  const { name, noise } = row
  return [
    name,
    figureText(row),
    ratioText(row),
    noise === null ? '' : `${Math.round(noise * 100)}%`,
    limitText(row),
    TARGET_TEXTS[verdictOf(row)],
  ]
}
