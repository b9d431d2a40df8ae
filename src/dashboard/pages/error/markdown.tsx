import type { Rendered } from '../../define.js'

/**
 * Text with a small subset of Markdown: paragraphs, lists, fenced code, `code`, bold, italic, and links to http and
 * https. Everything else is shown verbatim. JSX escapes all text, so the text cannot contain HTML.
 */
export function Markdown({ text }: { text: string }): Rendered {
  return (
    <div class="markdown">
      {parseBlocks(text).map((block) =>
        block.kind === 'code' ? (
          <pre dir="ltr" tabindex={0}>
            {block.lines.join('\n')}
          </pre>
        ) : block.kind === 'paragraph' ? (
          <p dir="auto">
            <Inline text={block.lines.join('\n')} />
          </p>
        ) : (
          <List block={block} />
        ),
      )}
    </div>
  )
}

interface Block {
  kind: 'paragraph' | 'code' | 'bullets' | 'numbers'
  lines: string[]
}

const FENCE = /^ {0,3}```/
const ITEMS = { bullets: /^ {0,3}[-*+] +(?=\S)/, numbers: /^ {0,3}\d{1,9}[.)] +(?=\S)/ } as const

/** Reads each line once. An unclosed fence ends with the text. */
function parseBlocks(text: string): Block[] {
  const blocks: Block[] = []
  let current: Block | null = null
  let isCode = false
  const start = (kind: Block['kind']): Block => {
    current = { kind, lines: [] }
    blocks.push(current)
    return current
  }
  const addTo = (kind: Block['kind'], line: string) => {
    const block = current?.kind === kind ? current : start(kind)
    block.lines.push(line)
  }
  for (const line of text.split(/\r?\n/)) {
    if (FENCE.test(line)) {
      isCode = !isCode
      current = isCode ? start('code') : null
    } else if (isCode) addTo('code', line)
    else if (line.trim() === '') current = null
    else if (ITEMS.bullets.test(line)) addTo('bullets', line.replace(ITEMS.bullets, ''))
    else if (ITEMS.numbers.test(line)) addTo('numbers', line.replace(ITEMS.numbers, ''))
    else addTo('paragraph', line)
  }
  return blocks
}

function List({ block }: { block: Block }): Rendered {
  const items = block.lines.map((line) => (
    <li dir="auto">
      <Inline text={line} />
    </li>
  ))
  return block.kind === 'bullets' ? <ul>{items}</ul> : <ol>{items}</ol>
}

/** Each alternative ends at its own delimiter or at the end of the line, which guarantees linear time. */
const INLINE =
  /`(?<code>[^`\n]+)`|\[(?<label>[^[\]\n]+)\]\((?<target>https?:\/\/[^\s()<>]+)\)|(?<url>https?:\/\/[^\s<>"'`]+)|\*\*(?=\S)(?<bold>[^*\n]*[^*\s])\*\*|(?<![\w*])\*(?=[^\s*])(?<star>[^*\n]*[^*\s])\*(?![\w*])|(?<!\w)_(?=[^\s_])(?<underline>[^_\n]*[^_\s])_(?!\w)/g

function Inline({ text }: { text: string }): Rendered {
  const parts: Rendered[] = []
  let end = 0
  for (const match of text.matchAll(INLINE)) {
    parts.push(text.slice(end, match.index), <Styled groups={match.groups ?? {}} />)
    end = match.index + match[0].length
  }
  return [...parts, text.slice(end)]
}

function Styled({ groups }: { groups: Partial<Record<string, string>> }): Rendered {
  const { code, label, target, url, bold, star, underline } = groups
  if (code !== undefined) return <code>{code}</code>
  if (label !== undefined && target !== undefined) return <ExternalLink url={target}>{label}</ExternalLink>
  if (url !== undefined) return <BareUrl text={url} />
  if (bold !== undefined) {
    return (
      <strong>
        <Inline text={bold} />
      </strong>
    )
  }
  return (
    <em>
      <Inline text={star ?? underline ?? ''} />
    </em>
  )
}

/** Links a URL without a final period or closing bracket, which belongs to the sentence. */
function BareUrl({ text }: { text: string }): Rendered {
  let length = text.length
  while ('.,;:!?)]}*_'.includes(text.charAt(length - 1))) length--
  const url = text.slice(0, length)
  return (
    <>
      <ExternalLink url={url}>{url}</ExternalLink>
      {text.slice(length)}
    </>
  )
}

function ExternalLink({ url, children }: { url: string; children?: Rendered }): Rendered {
  return (
    <a href={url} rel="noreferrer noopener">
      {children}
    </a>
  )
}
