import type { Rendered } from '../define.js'

/** Button that opens a panel with a form or links. Opening a menu closes all other menus. Works without JavaScript. */
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
  /** Target of a keyboard shortcut. */
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

/** Label of the menu with the less frequent actions. */
export function MoreLabel(): Rendered {
  return (
    <>
      <span aria-hidden="true">⋯</span>
      <span class="hidden">More actions</span>
    </>
  )
}

/** Section of a menu that expands in place. */
export function SubMenu({
  label,
  id,
  isDangerous = false,
  children,
}: {
  label: string
  id?: string
  /** True if the action destroys data. */
  isDangerous?: boolean
  children?: Rendered
}): Rendered {
  return (
    <details class={isDangerous ? 'submenu section-toggle dangerous' : 'submenu section-toggle'} name="submenu" id={id}>
      <summary>{label}</summary>
      <div class="submenu-panel">{children}</div>
    </details>
  )
}
