import MagicString from 'magic-string'
import { readLarderFile } from './larder.js'

const SOURCE_PATH = 'browser/basket.js'

export interface BasketScript {
  /** The script on one line, as a minifier writes it. */
  code: string
  /** Its source map as JSON. */
  map: string
}

/** Minifies the script of the shop's home page: removes comments, indentation and line breaks. */
export function buildBasketScript(): BasketScript {
  const source = readLarderFile(SOURCE_PATH)
  const script = new MagicString(source)
  for (const { index, 0: text } of source.matchAll(/\/\*[\s\S]*?\*\/\s*/g)) script.remove(index, index + text.length)
  for (const { index, 0: text } of source.matchAll(/(?<!\*\/)\n\s*/g))
    script.overwrite(index, index + text.length, separator(source, index))
  const map = script.generateMap({ source: SOURCE_PATH, includeContent: true, hires: true })
  return { code: script.toString(), map: map.toString() }
}

/** A line break ends a statement, except after a brace. */
function separator(source: string, index: number): string {
  return /[{}]/.test(source[index - 1] ?? '{') ? ' ' : ';'
}
