import type { Rendered } from '../define.js'
import { CopyButton } from './copy.js'

/** Code or text to copy, with the button inside its box. */
export function CodeBox({ id, label, children }: { id: string; label?: string; children?: Rendered }): Rendered {
  return (
    <div class="code-box">
      <pre tabindex={0} id={id}>
        <code>{children}</code>
      </pre>
      <CopyButton from={id} label={label} />
    </div>
  )
}
