import { createHash } from 'node:crypto'
import { parseFrame } from './backtrace.js'

export interface SignatureParts {
  error_type: string
  message: string
  backtrace: readonly string[]
  project_root: string
}

/** How many frames of the host's own code tell one place from another. */
const PLACE_FRAMES = 3
const MESSAGE_LIMIT = 1000
const SCAN_LIMIT = 50

/** The grouping key: SHA-256 over error type, normalised message and the place in the host's own code. */
export function signatureOf(parts: SignatureParts): string {
  return sha256(
    [parts.error_type, normaliseMessage(parts.message), ...placeOf(parts.backtrace, parts.project_root)].join('\n'),
  )
}

/** The grouping key of a host that decides for itself what belongs together. */
export function fingerprintSignature(fingerprint: string): string {
  return sha256(`fingerprint\n${fingerprint}`)
}

/**
 * File and function of the first frames in the host's own code, without line or column: neither an edit above the
 * place nor a deployment to another folder makes a new group. Recursion counts once.
 */
export function placeOf(backtrace: readonly string[], root: string): string[] {
  const own: string[] = []
  let first: string | undefined
  for (const line of backtrace.slice(0, SCAN_LIMIT)) {
    const frame = parseFrame(line, root)
    const place = `${frame.file ?? ''}#${stableName(frame.function_name)}`
    first ??= place
    if (frame.in_app && own.at(-1) !== place) own.push(place)
    if (own.length === PLACE_FRAMES) break
  }
  return own.length > 0 ? own : first ? [first] : []
}

/** The message with everything that differs from one occurrence to the next replaced by a word for its kind. */
export function normaliseMessage(message: string): string {
  const short = message.length > MESSAGE_LIMIT ? message.slice(0, MESSAGE_LIMIT) : message
  if (!VARIABLE_CHARACTERS.test(short)) return short
  return VARIABLE_PARTS.reduce((text, [pattern, word]) => text.replace(pattern, word), short)
}

const VARIABLE_CHARACTERS = /[\d"'`@]|[0-9a-f]{8}/i

// Each pattern is linear: bounded quantifiers, no nesting. The order matters: the larger shapes come first.
const VARIABLE_PARTS: readonly (readonly [RegExp, string])[] = [
  [/\d{4}-\d\d-\d\d[T ]\d\d:\d\d(?::\d\d(?:[.,]\d{1,9})?)?(?:Z|[+-]\d\d:?\d\d)?/g, '<time>'],
  [/\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b/gi, '<uuid>'],
  [/[\w.%+-]{1,64}@[\w-]{1,63}(?:\.[\w-]{1,63}){1,8}/g, '<email>'],
  [/(?:\/private)?\/(?:tmp|var\/folders|var\/tmp)\/[^\s'"`:)]{1,400}/g, '<temp>'],
  [/(^|[\s([{=:,])(?:"[^"\n]{0,400}"|'[^'\n]{0,400}'|`[^`\n]{0,400}`)(?=$|[\s)\]},.;:!?])/g, '$1<value>'],
  [/\b(?:\d{1,3}\.){3}\d{1,3}(?::\d{1,5})?\b/g, '<address>'],
  [/\[?(?:[0-9a-f]{1,4}:){3,7}[0-9a-f]{0,4}(?:::?[0-9a-f]{1,4}){0,6}\]?/gi, '<address>'],
  [/\b0x[0-9a-f]{1,64}\b/gi, '<hex>'],
  [/\b(?=[a-f]{0,63}\d)[0-9a-f]{8,64}\b/gi, '<hex>'],
  [/-?\d+(?:[.,]\d+)*/g, '<number>'],
]

/** What compilers add to a name, and numbers in generated names, change from build to build. */
function stableName(name: string | null): string {
  if (!name) return ''
  return name.replace(/^(?:async |new |Object\.|Module\.|exports\.)+/, '').replace(/ \[as [^\]]*\]$/, '')
}

function sha256(text: string): string {
  return createHash('sha256').update(text).digest('hex')
}
