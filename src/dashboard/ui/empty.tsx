import type { Rendered } from '../define.js'
import { CodeBox } from './code-box.js'

/** Empty state: title, next step and the code to run. */
export function Empty({ title, code, children }: { title: string; code?: string; children?: Rendered }): Rendered {
  return (
    <div class="empty">
      <p class="empty-title">{title}</p>
      {children && <p>{children}</p>}
      {code && <CodeBox id="empty-code">{code}</CodeBox>}
    </div>
  )
}
