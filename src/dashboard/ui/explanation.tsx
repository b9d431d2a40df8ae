import type { Rendered } from '../define.js'

/** How something is computed, for whoever asks: always open, it would be louder than the figure itself. */
export function How({ label = 'How this is worked out', children }: { label?: string; children?: Rendered }): Rendered {
  return (
    <details class="method">
      <summary>{label}</summary>
      <p class="how">{children}</p>
    </details>
  )
}
