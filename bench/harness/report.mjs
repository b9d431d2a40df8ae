/**
 * One measured figure. `ratio` compares it with `against` in the same run; `limit` says what the ratio, or the figure
 * itself where there is no ratio or `judged` says so, should be: `{ most }` or `{ least }`. Without a limit the row only
 * informs. `more` holds further numbers by name; a note stands once below the table.
 */
export function row({
  name,
  figure,
  unit,
  ratio = null,
  against = null,
  judged,
  limit = null,
  more = {},
  note = null,
}) {
  const by = judged ?? (ratio === null ? 'figure' : 'ratio')
  const verdict = verdictOf(limit, by === 'figure' ? figure : ratio)
  return { name, figure, unit, ratio, against, judged: by, limit, more, note, verdict }
}

export function printTable(title, rows, print = console.log) {
  const cells = rows.map((entry) => [
    entry.name,
    figureText(entry),
    ratioText(entry),
    limitText(entry),
    entry.verdict,
    moreText(entry),
  ])
  const head = ['', 'figure', 'ratio', 'should be', '', '']
  const widths = head.map((text, i) => Math.max(text.length, ...cells.map((line) => line[i].length)))
  const line = (texts) =>
    texts.map((text, i) => (i === 1 ? text.padStart(widths[i]) : text.padEnd(widths[i]))).join('  ')
  print(`\n${title}`)
  print(line(head).trimEnd())
  for (const texts of cells) print(line(texts).trimEnd())
  for (const note of new Set(rows.map((entry) => entry.note).filter(Boolean))) print(`  ${note}`)
}

function verdictOf(limit, value) {
  if (!limit) return ''
  const reached = limit.most === undefined ? value >= limit.least : value <= limit.most
  return reached ? 'ok' : 'not reached'
}

function figureText({ figure, unit }) {
  if (typeof figure !== 'number') return String(figure)
  return `${number(figure)} ${unit}`
}

function ratioText({ ratio, against }) {
  return ratio === null ? '' : `${ratio.toFixed(2)} x ${against}`
}

function limitText({ limit, judged, unit }) {
  if (!limit) return ''
  const bound = limit.most ?? limit.least
  return `${limit.most === undefined ? '≥' : '≤'} ${bound}${judged === 'figure' ? ` ${unit}` : ''}`
}

function moreText({ more }) {
  return Object.entries(more)
    .map(
      ([name, value]) =>
        `${name} ${typeof value === 'number' ? number(value, Number.isInteger(value) ? 0 : undefined) : value}`,
    )
    .join(', ')
}

function number(value, digits = Math.abs(value) >= 100 ? 0 : Math.abs(value) >= 10 ? 1 : 2) {
  return value.toLocaleString('en-US', { minimumFractionDigits: digits, maximumFractionDigits: digits })
}
