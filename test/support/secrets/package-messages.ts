import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const PACKAGES = fileURLToPath(new URL('../../../node_modules', import.meta.url))
/** Matches the text of an error, warning or assertion in JavaScript. */
const MESSAGE =
  /(?:Error|Exception|warn|emitWarning|deprecate|fail|reject|invariant|assert)\w{0,20}\(\s*(?:[^'"`()\n]{1,40},\s*)?(?:"((?:[^"\\\n]|\\.){15,400})"|'((?:[^'\\\n]|\\.){15,400})'|`((?:[^`\\]|\\.){15,400})`)/g
const EXPRESSION = /\$\{((?:[^{}]|\{[^}]*\})*)\}/g
/** Larger files are bundles that repeat smaller files. */
const MAX_FILE_LENGTH = 2_000_000

/**
 * Distinct messages of the installed packages, whose authors did not know this filter. Each expression in a template
 * is replaced with its last word.
 */
export function packageMessages(): string[] {
  const messages = new Set<string>()
  for (const entry of readdirSync(PACKAGES, { recursive: true, withFileTypes: true })) {
    if (!entry.isFile() || !/\.[cm]?js$/.test(entry.name)) continue
    const source = readFileSync(join(entry.parentPath, entry.name), 'utf8')
    if (source.length > MAX_FILE_LENGTH) continue
    for (const [, double, single, template] of source.matchAll(MESSAGE)) {
      const message = (double ?? single ?? template ?? '')
        .replace(EXPRESSION, (_, expression: string) => expression.match(/[A-Za-z]\w*/g)?.at(-1) ?? '7')
        .replaceAll('\\n', '\n')
        .replace(/\\(.)/g, '$1')
      if (message.includes(' ')) messages.add(message)
    }
  }
  return [...messages]
}
