/** Part of a line with the name of its style. Null means no style. */
export type SourcePart = readonly [text: string, style: Style | null]

export type Style = 'keyword' | 'text' | 'number' | 'comment' | 'function' | 'type' | 'name' | 'pattern'

export type Highlight = (code: string, language: string) => readonly SourcePart[]

/** Loads highlight.js on first use. Its HTML output is not used; tokens are returned as plain data. */
export async function loadHighlighter(): Promise<Highlight> {
  const { core, languages } = await import('./highlight-js.js')
  // Separate instance, because the host can use the same package with other settings.
  const highlighter = core.newInstance()
  for (const [name, language] of Object.entries(languages)) highlighter.registerLanguage(name, language)
  highlighter.configure({ __emitter: PartsEmitter } as unknown as Parameters<typeof highlighter.configure>[0])
  return (code, language) => {
    const { _emitter } = highlighter.highlight(code, { language, ignoreIllegals: true }) as unknown as {
      _emitter: PartsEmitter
    }
    return _emitter.parts
  }
}

/** Collects tokens instead of HTML. */
class PartsEmitter {
  readonly parts: SourcePart[] = []
  readonly #styles: (Style | null)[] = []

  addText(text: string): void {
    if (text !== '') this.parts.push([text, this.#styles.at(-1) ?? null])
  }

  startScope(scope: string): void {
    this.#styles.push(isNestedCode(scope) ? null : (scopeStyle(scope) ?? this.#styles.at(-1) ?? null))
  }

  endScope(): void {
    this.#styles.pop()
  }

  openNode(scope: string): void {
    this.startScope(scope)
  }

  closeNode(): void {
    this.endScope()
  }

  __addSublanguage(inner: PartsEmitter): void {
    for (const part of inner.parts) this.parts.push(part)
  }

  finalize(): void {}

  toHTML(): string {
    return ''
  }
}

/** Detects template expressions and embedded languages. */
function isNestedCode(scope: string): boolean {
  return scope === 'subst' || scope.startsWith('language:')
}

function scopeStyle(scope: string): Style | null {
  for (let name = scope; name !== ''; name = name.slice(0, Math.max(0, name.lastIndexOf('.')))) {
    const style = STYLES[name]
    if (style) return style
  }
  return null
}

/** Styles by scope of highlight.js. For `title.function.invoke`, the longest listed prefix applies. */
const STYLES: Readonly<Record<string, Style>> = {
  keyword: 'keyword',
  'selector-tag': 'keyword',
  'variable.language': 'keyword',
  tag: 'name',
  name: 'keyword',
  string: 'text',
  'char.escape': 'text',
  regexp: 'pattern',
  number: 'number',
  literal: 'number',
  comment: 'comment',
  doctag: 'comment',
  meta: 'comment',
  'title.function': 'function',
  title: 'function',
  'title.class': 'type',
  type: 'type',
  built_in: 'type',
  'variable.constant': 'number',
  attr: 'name',
  attribute: 'name',
  property: 'name',
}
