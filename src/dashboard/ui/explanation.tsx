import type { Rendered } from '../define.js'

/** Collapsed explanation of how a figure is calculated. */
export function Explanation({
  label = 'How is this calculated?',
  children,
}: {
  label?: string
  children?: Rendered
}): Rendered {
  return (
    <details>
      <summary>{label}</summary>
      <p class="description">{children}</p>
    </details>
  )
}
