import { extname } from 'node:path'
import { type Highlight, loadHighlighter, type SourcePart } from './highlighter.js'
import { openConstruct } from './open-construct.js'

export type { SourcePart } from './highlighter.js'

/**
 * Highlights lines of a file. `before` is the text in front of them, which can open a comment or template. Returns plain
 * parts for unknown languages. The parts of a line always add up to its text.
 */
export async function highlightLines(
  lines: readonly string[],
  { file, before }: { file: string; before: string },
): Promise<readonly (readonly SourcePart[])[]> {
  const { language, lead } = highlightContext(file, before)
  if (language === null) return plainParts(lines)
  try {
    loading ??= loadHighlighter()
    const highlight = await loading
    const parts = highlight(`${lead}\n${lines.join('\n')}`, language)
    const found = splitParts(parts).slice(1)
    return matchesLines(found, lines) ? found : plainParts(lines)
  } catch {
    // The source is shown without colors.
    return plainParts(lines)
  }
}

const LANGUAGES: readonly (readonly [RegExp, string])[] = [
  [/^\.[cm]?jsx?$|^\.gs$/, 'javascript'],
  [/^\.[cm]?tsx?$/, 'typescript'],
  [/^\.(?:vue|svelte|astro|marko|ejs|hbs|njk|eta|liquid)$/, 'xml'],
  [/^\.(?:graphql|gql)$/, 'graphql'],
  [/^\.coffee$/, 'coffeescript'],
]

/** Returns the language, and the text to put in front of the lines so that they are parsed correctly. */
function highlightContext(file: string, before: string): { language: string | null; lead: string } {
  const extension = extname(file).toLowerCase()
  const language = LANGUAGES.find(([pattern]) => pattern.test(extension))?.[1] ?? null
  if (language === 'javascript' || language === 'typescript') return { language, lead: openConstruct(before) }
  if (language !== 'xml') return { language, lead: '' }
  const script = Math.max(before.lastIndexOf('<script'), extension === '.astro' && before.startsWith('---') ? 0 : -1)
  const closing =
    script === 0 && extension === '.astro' ? before.indexOf('\n---', 3) : before.indexOf('</script', script)
  if (script < 0 || closing >= 0) return { language, lead: '' }
  const code = before.slice(before.indexOf('>', script) + 1)
  return { language: 'typescript', lead: openConstruct(code) }
}

let loading: Promise<Highlight> | null = null

function splitParts(parts: readonly SourcePart[]): SourcePart[][] {
  const lines: SourcePart[][] = [[]]
  for (const [text, style] of parts) {
    for (const [i, line] of text.split('\n').entries()) {
      if (i > 0) lines.push([])
      if (line !== '') lines.at(-1)?.push([line, style])
    }
  }
  return lines
}

function matchesLines(found: readonly (readonly SourcePart[])[], lines: readonly string[]): boolean {
  return found.length === lines.length && lines.every((line, i) => found[i]?.map(([text]) => text).join('') === line)
}

/** Returns each line as one part without style. */
export function plainParts(lines: readonly string[]): SourcePart[][] {
  return lines.map((line) => (line === '' ? [] : [[line, null]]))
}
