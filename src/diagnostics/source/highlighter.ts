/** A piece of a line and what it is, by the name of its style; null is nothing special. */
export type SourcePart = readonly [text: string, kind: Kind | null]

export type Kind = 'keyword' | 'text' | 'number' | 'comment' | 'function' | 'type' | 'name' | 'pattern'

export type Highlight = (code: string, language: string) => readonly SourcePart[]

/** Loaded with the first page that shows source. Its own HTML is never used: what it tells comes as plain pieces. */
export async function loadHighlighter(): Promise<Highlight> {
  const [core, javascript, typescript, xml, css, graphql, coffeescript] = await Promise.all([
    import('highlight.js/lib/core'),
    import('highlight.js/lib/languages/javascript'),
    import('highlight.js/lib/languages/typescript'),
    import('highlight.js/lib/languages/xml'),
    import('highlight.js/lib/languages/css'),
    import('highlight.js/lib/languages/graphql'),
    import('highlight.js/lib/languages/coffeescript'),
  ])
  // One of our own: the host may use the same package, with languages and settings of its own.
  const highlighter = core.default.newInstance()
  const languages = { javascript, typescript, xml, css, graphql, coffeescript }
  for (const [name, { default: language }] of Object.entries(languages)) highlighter.registerLanguage(name, language)
  highlighter.configure({ __emitter: PartsEmitter } as unknown as Parameters<typeof highlighter.configure>[0])
  return (code, language) => {
    const { _emitter } = highlighter.highlight(code, { language, ignoreIllegals: true }) as unknown as {
      _emitter: PartsEmitter
    }
    return _emitter.parts
  }
}

/** What the highlighter tells of a text, in place of the HTML that it would make of it. */
class PartsEmitter {
  readonly parts: SourcePart[] = []
  readonly #kinds: (Kind | null)[] = []

  addText(text: string): void {
    if (text !== '') this.parts.push([text, this.#kinds.at(-1) ?? null])
  }

  startScope(scope: string): void {
    this.#kinds.push(isCodeAgain(scope) ? null : (kindOf(scope) ?? this.#kinds.at(-1) ?? null))
  }

  endScope(): void {
    this.#kinds.pop()
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

/** An expression in a template, or another language inside this one. */
function isCodeAgain(scope: string): boolean {
  return scope === 'subst' || scope.startsWith('language:')
}

function kindOf(scope: string): Kind | null {
  for (let name = scope; name !== ''; name = name.slice(0, Math.max(0, name.lastIndexOf('.')))) {
    const kind = STYLES[name]
    if (kind) return kind
  }
  return null
}

/** Names of the highlighter by ours; the first part of `title.function.invoke` that is named here counts. */
const STYLES: Readonly<Record<string, Kind>> = {
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
