import type { Rendered } from '../../define.js'

/** Text that may be an address: only http and https become a link, everything else stays text. */
export function Reference({ text }: { text: string }): Rendered {
  if (!/^https?:\/\/\S+$/i.test(text) || !URL.canParse(text)) return text
  return (
    <a href={text} rel="noreferrer noopener">
      {text}
    </a>
  )
}
