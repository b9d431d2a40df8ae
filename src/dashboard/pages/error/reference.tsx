import type { Rendered } from '../../define.js'

/** Renders an http or https URL as a link and everything else as text. */
export function Reference({ text }: { text: string }): Rendered {
  if (!/^https?:\/\/\S+$/i.test(text) || !URL.canParse(text)) return text
  return (
    <a href={text} rel="noreferrer noopener">
      {text}
    </a>
  )
}
