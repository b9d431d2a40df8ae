import type { Cause } from '../event.js'
import type { ClientFrame } from './client-frame.js'

/** `at com.shop.Cart.total(Cart.kt:42)`: no space before the parenthesis, and a package before the name. */
const FRAME = /^at ((?:[\w.$-]{1,100}\/{1,2})?[\w$<>.-]{1,500})\(([^()]{0,200})\)$/

export function isJavaFrame(line: string): boolean {
  return FRAME.test(line)
}

export function javaFrame(line: string): ClientFrame | null {
  const [, called = '', place = ''] = FRAME.exec(line) ?? []
  // The part before a slash is the module or the class loader.
  const name = called.slice(called.lastIndexOf('/') + 1)
  if (name === '') return null
  const location = place === 'Native Method' ? 'native' : place || 'Unknown Source'
  return { name, location, isLibrary: LIBRARY.test(name) }
}

/** Packages of the system, the language, and libraries that nearly every app uses. */
const LIBRARY =
  /^(?:java|javax|jdk|sun|kotlin|kotlinx|android|androidx|dalvik|libcore|com\.android|com\.google\.(?:android|firebase|gson)|okhttp3|okio|retrofit2|io\.reactivex|dagger|com\.facebook\.(?:react|hermes)|org\.(?:apache|json|chromium))\./

/** Parses `Caused by: java.lang.IllegalStateException: no items`; null for any other line. */
export function javaCause(line: string): Pick<Cause, 'error_type' | 'message' | 'relation'> | null {
  const match = /^(Caused by|Suppressed): ([\w$.]{1,255})(?:: (.*))?$/.exec(line)
  if (!match) return null
  const [, word, error_type = '', message = ''] = match
  return { error_type, message, relation: word === 'Suppressed' ? 'suppressed' : 'cause' }
}
