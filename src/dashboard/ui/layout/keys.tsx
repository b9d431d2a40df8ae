import type { Rendered } from '../../define.js'

/** Keys of a shortcut, such as `g o` or `j / k`. */
export function Keys({ keys }: { keys: string }): Rendered {
  return (
    <span class="key-list">
      {keys.split(' ').map((key) => (key === '/' && keys !== '/' ? ' / ' : <kbd>{key}</kbd>))}
    </span>
  )
}
