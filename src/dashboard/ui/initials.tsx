import type { Rendered } from '../define.js'

/** Initials of a person, with the full name for screen readers and on hover. */
export function Initials({ name }: { name: string }): Rendered {
  return (
    <span class="initials" title={name}>
      <span aria-hidden="true">{initialsOf(name)}</span>
      <span class="hidden">{`Assigned to ${name}`}</span>
    </span>
  )
}

/** Returns `EA` for `eve.adams@example.org` and `E` for `Eve`. */
export function initialsOf(name: string): string {
  const words = (name.split('@')[0] ?? '').match(/[\p{L}\p{N}]+/gu) ?? ['?']
  const firstAndLast = words.length > 1 ? [words[0], words.at(-1)] : [words[0]]
  return firstAndLast
    .map((word) => [...(word ?? '')][0])
    .join('')
    .toUpperCase()
}
