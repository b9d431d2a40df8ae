import type { SourceLines } from '../../diagnostics/source-code.js'
import type { Rendered } from '../define.js'

export type { SourceLines } from '../../diagnostics/source-code.js'

/** Lines of source with their numbers, the one that failed marked. The numbers are no text, so they are not copied. */
export function SourceCode({ source }: { source: SourceLines }): Rendered {
  return (
    <pre class="source" dir="ltr">
      {source.lines.map((text, i) => {
        const number = source.first + i
        return number === source.line_number ? (
          <mark class="line" data-line={String(number)}>
            {`${text}\n`}
          </mark>
        ) : (
          <span class="line" data-line={String(number)}>{`${text}\n`}</span>
        )
      })}
    </pre>
  )
}
