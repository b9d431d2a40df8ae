import { evalOrigin } from './backtrace.js'
import type { ClientFrame } from './client-frame.js'
import { scriptPath } from './script-path.js'

/** A line of V8, of Hermes (React Native), of Firefox or of Safari; null for any other. */
export function scriptFrame(line: string): ClientFrame | null {
  const parts = line.startsWith('at ') ? afterAt(line.slice(3)) : beforeAt(line)
  if (!parts) return null
  const { path, position } = placeOf(parts.location)
  // A sentence with an @ in it is no frame.
  if (position === '' && !NOWHERE.test(path) && !line.startsWith('at ')) return null
  const location = NOWHERE.test(path) ? 'native' : `${scriptPath(path)}${position}`
  return { name: plainName(parts.name), location, is_library: EXTENSION.test(path) }
}

interface Parts {
  name: string
  location: string
}

/** Where there is no file: what the browser itself runs. */
const NOWHERE = /^(?:native(?: code)?|\[native code\]|<anonymous>|anonymous|unknown|InternalBytecode\.js|)$/
const EXTENSION =
  /^(?:(?:chrome|moz|ms-browser|safari|safari-web|opera)-extension|webkit-masked-url|chrome|resource|about|user-script):/

/** `total (https://…:1:2)`, `https://…:1:2`, `total (address at index.android.bundle:1:2)`. */
function afterAt(text: string): Parts {
  const open = text.endsWith(')') ? text.indexOf('(') : -1
  if (open < 0) return { name: '', location: withoutAddress(text.replace(/^async /, '')) }
  // A name may hold parentheses too, and so may a path: the place begins behind the first that follows a blank.
  const start = text.indexOf(' (') < 0 ? open : text.indexOf(' (') + 1
  return { name: text.slice(0, start), location: withoutAddress(evalOrigin(text.slice(start + 1, -1))) }
}

function withoutAddress(location: string): string {
  return location.startsWith('address at ') ? location.slice('address at '.length) : location
}

/** `total@https://…:1:2`, `@https://…:1:2`, `map@[native code]`. Neither a function's name nor a blank is in a place. */
function beforeAt(text: string): Parts | null {
  // The first one: an address may hold another, `https://cdn.example/react@19/index.js`.
  const at = text.search(/@(?=[a-z][a-z\d+.-]{1,30}:|\/|\[native|[\w.-]{1,100}(?:bundle|\.js)\b|\d)/i)
  if (at < 0) return null
  const [evaluated = ''] = /^\S* line \d+ > (?:eval|Function|injectedScript)/.exec(text.slice(at + 1)) ?? []
  const location = evaluated ? evaluated.replace(/ line (\d+) >.*$/, ':$1') : text.slice(at + 1)
  if (/\s/.test(location) && location !== '[native code]') return null
  return { name: text.slice(0, at), location }
}

function placeOf(location: string): { path: string; position: string } {
  const match = /:\d{1,9}(?::\d{1,9})?$/.exec(location)
  return match ? { path: location.slice(0, match.index), position: match[0] } : { path: location, position: '' }
}

/** What stands for code outside of any function, or for a function without a name. */
const NO_NAME =
  /^(?:<?anonymous>?|anonymous function|\(anonymous\)|\?|(?:global|module|eval) code|global|eval|<(?:static|instance)\w*>)$/i

/**
 * The name that every browser would give: Chrome writes `new Cart`, `Cart.total`, `Object.total [as sum]`; Firefox
 * `Cart.prototype.total`, `total/<` for a function within; Safari the last word of it.
 */
function plainName(name: string): string {
  const plain = name
    .trim()
    .replace(/^(?:(?:async|new|get|set|static|bound)[ *])+/, '')
    .replace(/ \[as [^[\]]{0,200}\]$/, '')
  if (plain.endsWith('<')) return ''
  const symbol = plain.endsWith(']') ? plain.lastIndexOf('[') : -1
  const word = symbol >= 0 ? plain.slice(symbol) : (plain.split(/[./]/).at(-1) ?? '')
  const short = word.replace(/^(?:async|get|set) /, '')
  return NO_NAME.test(short) ? '' : short
}
