import type { Rendered } from '../define.js'

/** A button that opens a panel with a form or links; opening one closes the others, without any script. */
export function Menu({
  label,
  primary,
  children,
  id,
  align = 'end',
}: {
  label: Rendered
  primary?: boolean
  children?: Rendered
  /** For a shortcut that opens it. */
  id?: string
  align?: 'start' | 'end'
}): Rendered {
  return (
    <details class={`menu align-${align}`} name="menu" id={id}>
      <summary class={primary ? 'button primary' : 'button'}>{label}</summary>
      <div class="menu-panel">{children}</div>
    </details>
  )
}
