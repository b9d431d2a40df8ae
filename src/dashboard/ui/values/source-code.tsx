import type { SourceLines } from '../../../diagnostics/source/source-code.js'
import type { Rendered } from '../../define.js'

export type { SourceLines } from '../../../diagnostics/source/source-code.js'

/** Source lines with the failing line highlighted. CSS generates the line numbers, so that copied text omits them. */
export function SourceCode({ source }: { source: SourceLines }): Rendered {
  return (
    <pre class="source" dir="ltr">
      {source.parts.map((parts, i) => {
        const number = source.first + i
        const Line = number === source.line_number ? 'mark' : 'span'
        return (
          <Line class="line" data-line={String(number)}>
            {parts.map(([text, kind]) => (kind === null ? text : <span class={`code-${kind}`}>{text}</span>))}
            {'\n'}
          </Line>
        )
      })}
    </pre>
  )
}
