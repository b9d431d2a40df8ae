import { evalOrigin } from './backtrace.js'
import type { ClientFrame } from './client-frame.js'
import { scriptPath } from './script-path.js'

/** Parses a line of V8, Hermes (React Native), Firefox or Safari; null for any other line. */
export function parseScriptFrame(line: string): ClientFrame | null {
  const parts = line.startsWith('at ') ? parseV8Line(line.slice(3)) : parseGeckoLine(line)
  if (!parts) return null
  const { path, position } = parseLocation(parts.location)
  // A sentence that contains an @ is not a frame.
  if (position === '' && !LOCATION_WITHOUT_FILE.test(path) && !line.startsWith('at ')) return null
  const location = LOCATION_WITHOUT_FILE.test(path) ? 'native' : `${scriptPath(path)}${position}`
  return { name: plainName(parts.name), location, isLibrary: EXTENSION_URL.test(path) }
}

interface FrameParts {
  name: string
  location: string
}

/** Locations without a file: code of the browser itself. */
const LOCATION_WITHOUT_FILE =
  /^(?:native(?: code)?|\[native code\]|<anonymous>|anonymous|unknown|InternalBytecode\.js|)$/
const EXTENSION_URL =
  /^(?:(?:chrome|moz|ms-browser|safari|safari-web|opera)-extension|webkit-masked-url|chrome|resource|about|user-script):/

/** `total (https://…:1:2)`, `https://…:1:2`, `total (address at index.android.bundle:1:2)`. */
function parseV8Line(text: string): FrameParts {
  const open = text.endsWith(')') ? text.indexOf('(') : -1
  if (open < 0) return { name: '', location: withoutAddress(text.replace(/^async /, '')) }
  // Names and paths can contain parentheses: the location begins at the first parenthesis that follows a space.
  const start = text.indexOf(' (') < 0 ? open : text.indexOf(' (') + 1
  return { name: text.slice(0, start), location: withoutAddress(evalOrigin(text.slice(start + 1, -1))) }
}

function withoutAddress(location: string): string {
  return location.startsWith('address at ') ? location.slice('address at '.length) : location
}

/**
 * `total@https://…:1:2`, `@https://…:1:2`, `map@[native code]`. A location contains neither a function name nor a
 * space.
 */
function parseGeckoLine(text: string): FrameParts | null {
  // Uses the first match because a URL can contain another @: `https://cdn.example/react@19/index.js`.
  const at = text.search(/@(?=[a-z][a-z\d+.-]{1,30}:|\/|\[native|[\w.-]{1,100}(?:bundle|\.js)\b|\d)/i)
  if (at < 0) return null
  const [evaluated = ''] = /^\S* line \d+ > (?:eval|Function|injectedScript)/.exec(text.slice(at + 1)) ?? []
  const location = evaluated ? evaluated.replace(/ line (\d+) >.*$/, ':$1') : text.slice(at + 1)
  if (/\s/.test(location) && location !== '[native code]') return null
  return { name: text.slice(0, at), location }
}

function parseLocation(location: string): { path: string; position: string } {
  const match = /:\d{1,9}(?::\d{1,9})?$/.exec(location)
  return match ? { path: location.slice(0, match.index), position: match[0] } : { path: location, position: '' }
}

/** Names for code outside of any function, or for a function without a name. */
const UNNAMED_FUNCTION =
  /^(?:<?anonymous>?|anonymous function|\(anonymous\)|\?|(?:global|module|eval) code|global|eval|<(?:static|instance)\w*>)$/i

/**
 * Normalizes the function name across browsers. Chrome writes `new Cart`, `Cart.total`, `Object.total [as sum]`;
 * Firefox `Cart.prototype.total`, and `total/<` for an inner function; Safari only the last part.
 */
function plainName(name: string): string {
  const normalized = name
    .trim()
    .replace(/^(?:(?:async|new|get|set|static|bound)[ *])+/, '')
    .replace(/ \[as [^[\]]{0,200}\]$/, '')
  if (normalized.endsWith('<')) return ''
  const symbol = normalized.endsWith(']') ? normalized.lastIndexOf('[') : -1
  const lastPart = symbol >= 0 ? normalized.slice(symbol) : (normalized.split(/[./]/).at(-1) ?? '')
  const bareName = lastPart.replace(/^(?:async|get|set) /, '')
  return UNNAMED_FUNCTION.test(bareName) ? '' : bareName
}
