/** Trusted markup. All other template values are escaped. */
export class Html {
  constructor(readonly text: string) {}
}

type TemplateValue = Html | string | number | null | readonly TemplateValue[]

/**
 * Template tag that escapes every value except `Html`.
 *
 * html`<p>${'<b>'}</p>`.text // '<p>&lt;b&gt;</p>'
 */
export function html(strings: TemplateStringsArray, ...parts: readonly TemplateValue[]): Html {
  return new Html(
    strings.map((string, index) => string + (index < parts.length ? renderValue(parts[index] ?? null) : '')).join(''),
  )
}

function renderValue(part: TemplateValue): string {
  if (part === null) return ''
  if (part instanceof Html) return part.text
  if (typeof part === 'object') return part.map(renderValue).join('')
  return String(part).replace(/[&<>"']/g, (character) => ENTITIES[character] ?? character)
}

const ENTITIES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
}
