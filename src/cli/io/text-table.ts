import { colorize, colorizeState } from './colors.js'
import { escapeText } from './terminal.js'

export interface Column<Row> {
  title: string
  text(row: Row): string
  align?: 'right'
  /** Maximum width. The last column gets the remaining space. */
  limit?: number
  /** On a narrow terminal, the column with the highest priority is dropped first. */
  dropPriority?: number
  /** True if the text is a severity, a status or a state, which has a color. */
  isState?: boolean
}

const COLUMN_GAP = 2
const MIN_LAST_WIDTH = 40

/** Formats rows with a heading and aligned columns, at most `width` wide. */
export function textTable<Row>(columns: readonly Column<Row>[], rows: readonly Row[], width: number): string[] {
  const shown = columns.map((column) => {
    const cells = [column.title, ...rows.map((row) => escapeText(column.text(row)))]
    const contentWidth = Math.max(...cells.map(displayWidth))
    return { column, cells, width: Math.min(contentWidth, column.limit ?? contentWidth) }
  })
  const last = shown.at(-1)
  if (!last) return []
  const otherWidth = () => shown.slice(0, -1).reduce((sum, column) => sum + column.width + COLUMN_GAP, 0)
  while (otherWidth() + Math.min(last.width, MIN_LAST_WIDTH) > width) {
    const droppable = shown.filter(({ column }) => column.dropPriority !== undefined)
    const dropped = droppable.sort((a, b) => (b.column.dropPriority ?? 0) - (a.column.dropPriority ?? 0))[0]
    if (!dropped) break
    shown.splice(shown.indexOf(dropped), 1)
  }
  last.width = Math.max(1, Math.min(last.width, width - otherWidth()))
  return [...rows.keys(), rows.length].map((line) => {
    const cells = shown.map((column) => ({ ...column, text: truncate(column.cells[line] ?? '', column.width) }))
    const plainLine = joinCells(cells, (text) => text)
    if (displayWidth(plainLine) > width) return truncate(plainLine, width)
    return line === 0
      ? colorize('bold', plainLine)
      : joinCells(cells, (text, isState) => (isState ? colorizeState(text) : text))
  })
}

interface Cell {
  text: string
  width: number
  column: Pick<Column<never>, 'align' | 'isState'>
}

/** Pads by the width of the plain text, because color codes have no width. */
function joinCells(cells: readonly Cell[], color: (text: string, isState: boolean) => string): string {
  const padded = cells.map(({ text, width, column: { align, isState = false } }) => {
    const padding = ' '.repeat(Math.max(0, width - displayWidth(text)))
    return align === 'right' ? padding + color(text, isState) : color(text, isState) + padding
  })
  return padded.join(' '.repeat(COLUMN_GAP)).trimEnd()
}

function truncate(text: string, width: number): string {
  if (text.length * 2 <= width || displayWidth(text) <= width) return text
  let remaining = width - 1
  let truncated = ''
  for (const { segment } of graphemes.segment(text)) {
    remaining -= displayWidth(segment)
    if (remaining < 0) break
    truncated += segment
  }
  return width > 0 ? `${truncated}…` : ''
}

const graphemes = new Intl.Segmenter('en', { granularity: 'grapheme' })
const WIDE_CHARACTER =
  /[\u1100-\u115f\u2e80-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6]|\p{Emoji_Presentation}|[\u{20000}-\u{3fffd}]/u
const PRINTABLE_ASCII = /^[\x20-\x7e]*$/

/** Number of terminal columns of a string: two for a Chinese character or an emoji, none for a combining accent. */
function displayWidth(text: string): number {
  if (PRINTABLE_ASCII.test(text)) return text.length
  let width = 0
  for (const character of text) width += /\p{M}/u.test(character) ? 0 : WIDE_CHARACTER.test(character) ? 2 : 1
  return width
}
