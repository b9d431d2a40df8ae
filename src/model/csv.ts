/**
 * Matches text that a spreadsheet would execute as a formula, including after stripped characters and in full-width
 * forms.
 */
const FORMULA_START = /^[\s"'\u200B-\u200F\u2060\uFEFF\0]*[=+\-@\t\r＝＋－＠]|^[\t\r]/u

/** First character of a CSV file. Makes spreadsheets decode the file as UTF-8. */
export const BYTE_ORDER_MARK = '\uFEFF'

/** Limits the rows of a download. */
export const MAX_DOWNLOADED_ROWS = 50_000

/** Formats one row according to RFC 4180. */
export function csvRow(cells: readonly (string | number | null)[]): string {
  return `${cells.map(formatCell).join(',')}\r\n`
}

function formatCell(value: string | number | null): string {
  if (value === null) return ''
  if (typeof value === 'number') return String(value)
  const text = FORMULA_START.test(value) ? `'${value}` : value
  return /[",\r\n]/.test(text) || text !== text.trim() ? `"${text.replaceAll('"', '""')}"` : text
}
