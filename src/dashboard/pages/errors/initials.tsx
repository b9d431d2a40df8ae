import type { Rendered } from '../../define.js'

/** A person in the space of two letters; the whole name is read out, and shown on hover. */
export function Initials({ name }: { name: string }): Rendered {
  return (
    <span class="initials" title={name}>
      <span aria-hidden="true">{initialsOf(name)}</span>
      <span class="hidden">{`Assigned to ${name}`}</span>
    </span>
  )
}

/** `eve.adams@example.org` is EA, `Eve` is E. */
export function initialsOf(name: string): string {
  const words = (name.split('@')[0] ?? '').match(/[\p{L}\p{N}]+/gu) ?? ['?']
  const chosen = words.length > 1 ? [words[0], words.at(-1)] : [words[0]]
  return chosen
    .map((word) => [...(word ?? '')][0])
    .join('')
    .toUpperCase()
}
