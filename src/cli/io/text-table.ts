import { escapeText } from './terminal.js'

export interface Column<Row> {
  title: string
  text(row: Row): string
  align?: 'right'
  /** Maximum width. The last column gets the remaining space. */
  limit?: number
  /** On a narrow terminal, the column with the highest number is dropped first. */
  spare?: number
}

const GAP = 2
const MIN_LAST_WIDTH = 40

/** Formats rows with a heading and aligned columns, at most `width` wide. */
export function textTable<Row>(columns: readonly Column<Row>[], rows: readonly Row[], width: number): string[] {
  const shown = columns.map((column) => {
    const cells = [column.title, ...rows.map((row) => escapeText(column.text(row)))]
    const natural = Math.max(...cells.map(displayWidth))
    return { column, cells, width: Math.min(natural, column.limit ?? natural) }
  })
  const last = shown.at(-1)
  if (!last) return []
  const others = () => shown.slice(0, -1).reduce((sum, column) => sum + column.width + GAP, 0)
  while (others() + Math.min(last.width, MIN_LAST_WIDTH) > width) {
    const spare = shown.filter(({ column }) => column.spare !== undefined)
    const next = spare.sort((a, b) => (b.column.spare ?? 0) - (a.column.spare ?? 0))[0]
    if (!next) break
    shown.splice(shown.indexOf(next), 1)
  }
  last.width = Math.max(1, Math.min(last.width, width - others()))
  return [...rows.keys(), rows.length].map((line) => {
    const text = shown
      .map((column) => fitted(column.cells[line] ?? '', column.width, column.column.align))
      .join(' '.repeat(GAP))
    return cut(text.trimEnd(), width)
  })
}

function fitted(text: string, width: number, align: 'right' | undefined): string {
  const short = cut(text, width)
  const blanks = ' '.repeat(Math.max(0, width - displayWidth(short)))
  return align === 'right' ? blanks + short : short + blanks
}

function cut(text: string, width: number): string {
  if (text.length * 2 <= width || displayWidth(text) <= width) return text
  let room = width - 1
  let short = ''
  for (const { segment } of graphemes.segment(text)) {
    room -= displayWidth(segment)
    if (room < 0) break
    short += segment
  }
  return width > 0 ? `${short}…` : ''
}

const graphemes = new Intl.Segmenter('en', { granularity: 'grapheme' })
const WIDE =
  /[\u1100-\u115f\u2e80-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6]|\p{Emoji_Presentation}|[\u{20000}-\u{3fffd}]/u
const PLAIN = /^[\x20-\x7e]*$/

/** Terminal columns of a text: two for a Chinese character or an emoji, none for a combining accent. */
function displayWidth(text: string): number {
  if (PLAIN.test(text)) return text.length
  let width = 0
  for (const character of text) width += /\p{M}/u.test(character) ? 0 : WIDE.test(character) ? 2 : 1
  return width
}
