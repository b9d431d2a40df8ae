import type { Cause } from '../event.js'
import type { ClientFrame } from './client-frame.js'

/** `at com.shop.Cart.total(Cart.kt:42)`: no space before the parenthesis, and a package before the name. */
const JAVA_FRAME = /^at ((?:[\w.$-]{1,100}\/{1,2})?[\w$<>.-]{1,500})\(([^()]{0,200})\)$/

export function isJavaFrame(line: string): boolean {
  return JAVA_FRAME.test(line)
}

export function parseJavaFrame(line: string): ClientFrame | null {
  const [, qualifiedName = '', source = ''] = JAVA_FRAME.exec(line) ?? []
  // The part before a slash is the module or the class loader.
  const name = qualifiedName.slice(qualifiedName.lastIndexOf('/') + 1)
  if (name === '') return null
  const location = source === 'Native Method' ? 'native' : source || 'Unknown Source'
  return { name, location, isLibrary: LIBRARY_PACKAGE.test(name) }
}

/** Packages of the system, the language, and libraries that nearly every app uses. */
const LIBRARY_PACKAGE =
  /^(?:java|javax|jdk|sun|kotlin|kotlinx|android|androidx|dalvik|libcore|com\.android|com\.google\.(?:android|firebase|gson)|okhttp3|okio|retrofit2|io\.reactivex|dagger|com\.facebook\.(?:react|hermes)|org\.(?:apache|json|chromium))\./

/** Parses `Caused by: java.lang.IllegalStateException: no items`; null for any other line. */
export function parseJavaCause(line: string): Pick<Cause, 'error_type' | 'message' | 'relation'> | null {
  const match = /^(Caused by|Suppressed): ([\w$.]{1,255})(?:: (.*))?$/.exec(line)
  if (!match) return null
  const [, keyword, error_type = '', message = ''] = match
  return { error_type, message, relation: keyword === 'Suppressed' ? 'suppressed' : 'cause' }
}
