import type { ClientFrame } from './client-frame.js'

/**
 * Parses `#0 Cart.total (package:shop/cart.dart:12:5)`, the format of Dart and Flutter; null for any other line.
 */
export function parseDartFrame(line: string): ClientFrame | null {
  const match = /^#\d{1,4}\s{1,10}(\S[^()]{0,400}) \(([^()]{1,500})\)$/.exec(line)
  if (!match) return null
  const [, name = '', location = ''] = match
  return {
    name,
    location,
    isLibrary: /^(?:dart:|package:(?:flutter|flutter_test|async|stack_trace)\/)/.test(location),
  }
}
