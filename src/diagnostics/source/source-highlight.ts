import { extname } from 'node:path'
import { type Highlight, loadHighlighter, type SourcePart } from './highlighter.js'
import { openConstruct } from './open-construct.js'

export type { SourcePart } from './highlighter.js'

/**
 * The lines in their pieces. `before` is the text of the file in front of them, which decides what they mean. What the
 * highlighter does not know stays one plain piece: the texts of the pieces are always those of the lines.
 */
export async function highlighted(
  lines: readonly string[],
  { file, before }: { file: string; before: string },
): Promise<readonly (readonly SourcePart[])[]> {
  const { language, lead } = beginningOf(file, before)
  if (language === null) return plainParts(lines)
  try {
    loading ??= loadHighlighter()
    const highlight = await loading
    const parts = highlight(`${lead}\n${lines.join('\n')}`, language)
    const found = linesOf(parts).slice(1)
    return hasTheTexts(found, lines) ? found : plainParts(lines)
  } catch {
    // A highlighter that is not there or stumbles must not cost the source itself.
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

/** The language of a window, and what to put in front of it so that it reads as it does in its file. */
function beginningOf(file: string, before: string): { language: string | null; lead: string } {
  const end = extname(file).toLowerCase()
  const language = LANGUAGES.find(([pattern]) => pattern.test(end))?.[1] ?? null
  if (language === 'javascript' || language === 'typescript') return { language, lead: openConstruct(before) }
  if (language !== 'xml') return { language, lead: '' }
  const script = Math.max(before.lastIndexOf('<script'), end === '.astro' && before.startsWith('---') ? 0 : -1)
  const closing = script === 0 && end === '.astro' ? before.indexOf('\n---', 3) : before.indexOf('</script', script)
  if (script < 0 || closing >= 0) return { language, lead: '' }
  const code = before.slice(before.indexOf('>', script) + 1)
  return { language: 'typescript', lead: openConstruct(code) }
}

let loading: Promise<Highlight> | null = null

function linesOf(parts: readonly SourcePart[]): SourcePart[][] {
  const lines: SourcePart[][] = [[]]
  for (const [text, kind] of parts) {
    for (const [i, piece] of text.split('\n').entries()) {
      if (i > 0) lines.push([])
      if (piece !== '') lines.at(-1)?.push([piece, kind])
    }
  }
  return lines
}

function hasTheTexts(found: readonly (readonly SourcePart[])[], lines: readonly string[]): boolean {
  return found.length === lines.length && lines.every((line, i) => found[i]?.map(([text]) => text).join('') === line)
}

/** Every line as one piece. */
export function plainParts(lines: readonly string[]): SourcePart[][] {
  return lines.map((line) => (line === '' ? [] : [[line, null]]))
}
