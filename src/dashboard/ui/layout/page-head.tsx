import type { Rendered } from '../../define.js'

/** Page heading with one line of context and the tools of the page. */
export function PageHead({
  title,
  context,
  children,
}: {
  title: Rendered
  context?: Rendered
  /** Tools, such as the range, the export and the primary action. */
  children?: Rendered
}): Rendered {
  return (
    <header class="page-head">
      <div class="page-title">
        <h1>{title}</h1>
        {context && <p class="muted">{context}</p>}
      </div>
      {children && <div class="page-tools">{children}</div>}
    </header>
  )
}
