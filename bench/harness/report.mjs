const BOUND_TOLERANCE = 1.1

/**
 * Creates a row for one measured figure. `ratio` compares it with `against` in the same run. `limit` (`{ max }` or
 * `{ min }`) applies to the ratio, or to the figure if there is no ratio or `judged` selects it. A row without a limit
 * is informational. `better` ('lower' or 'higher') makes the ratio part of the regression check. By default, it follows
 * from the limit. `bound` is the same value for a minimal program that does only the unavoidable part. A row that
 * misses its limit still passes within `BOUND_TOLERANCE` times the bound. `more` contains further figures by name. Each
 * distinct note is printed once below the table.
 */
export function row({
  name,
  figure,
  unit,
  ratio = null,
  against = null,
  judged,
  limit = null,
  bound = null,
  better = defaultDirection(limit),
  more = {},
  note = null,
}) {
  const judgedField = judged ?? (ratio === null ? 'figure' : 'ratio')
  const measured = { name, figure, unit, ratio, against, judged: judgedField, limit, bound, better, more, note }
  return { ...measured, verdict: verdictOf(measured) }
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

function defaultDirection(limit) {
  if (!limit) return null
  return limit.max === undefined ? 'higher' : 'lower'
}

/** Returns `ok`, `missed`, or an empty string for a row without a limit. */
export function verdictOf({ figure, ratio, judged, limit, bound }) {
  if (!limit) return ''
  const value = judged === 'figure' ? figure : ratio
  const { min, max } = limit
  const isReached = max === undefined ? value >= min : value <= max
  const isNearBound =
    Boolean(bound) && (max === undefined ? value >= bound / BOUND_TOLERANCE : value <= bound * BOUND_TOLERANCE)
  return isReached || isNearBound ? 'ok' : 'missed'
}

export function figureText({ figure, unit }) {
  if (typeof figure !== 'number') return String(figure)
  return `${number(figure)} ${unit}`
}

export function ratioText({ ratio, against }) {
  return ratio === null ? '' : `${ratio.toFixed(2)} x ${against}`
}

export function limitText({ limit, bound, judged, unit }) {
  if (!limit) return ''
  const unitText = judged === 'figure' ? ` ${unit}` : ''
  const text = `${limit.max === undefined ? '≥' : '≤'} ${shortNumber(limit.max ?? limit.min)}${unitText}`
  if (!bound) return text
  const reachable = limit.max === undefined ? bound / BOUND_TOLERANCE : bound * BOUND_TOLERANCE
  const isStricter = limit.max === undefined ? reachable >= limit.min : reachable <= limit.max
  if (isStricter) return text
  return `${text}, or ${shortNumber(reachable)}${unitText} (lower bound ${shortNumber(bound)})`
}

function shortNumber(value) {
  return Number(value.toPrecision(3))
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
