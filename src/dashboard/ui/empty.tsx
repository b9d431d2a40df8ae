import type { Rendered } from '../define.js'
import { CopyButton } from './copy.js'

/** Empty state: title, next step and the code to run. */
export function Empty({ title, code, children }: { title: string; code?: string; children?: Rendered }): Rendered {
  return (
    <div class="empty">
      <p class="empty-title">{title}</p>
      {children && <p>{children}</p>}
      {code && (
        <>
          <pre tabindex={0} id="empty-code">
            <code>{code}</code>
          </pre>
          <CopyButton from="empty-code" />
        </>
      )}
    </div>
  )
}
