/** One row after RFC 4180. */
export function csvRow(cells: readonly (string | number | null)[]): string {
  return `${cells.map(cell).join(',')}\r\n`
}

function cell(value: string | number | null): string {
  if (value === null) return ''
  if (typeof value === 'number') return String(value)
  const text = FORMULA.test(value) ? `'${value}` : value
  return /[",\r\n]/.test(text) || text !== text.trim() ? `"${text.replaceAll('"', '""')}"` : text
}

/**
 * What a spreadsheet would take for a formula, and run: also behind spaces, quotes and marks that it strips, and in the
 * wide letters that some take for the plain ones.
 */
const FORMULA = /^[\s"'\u200B-\u200F\u2060\uFEFF\0]*[=+\-@\t\r＝＋－＠]|^[\t\r]/u
