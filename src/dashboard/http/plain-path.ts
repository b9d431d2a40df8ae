/**
 * Checks whether a path can be matched without decoding. Dashboard paths need no encoding, and sequences that a URL
 * parser resolves (`%2e`, `..`, `//`) could bypass a guard in the host.
 */
export function isPlainPath(path: string): boolean {
  return path === '/' || /^(?:\/(?!\.{1,2}(?:\/|$))[\w.-]+)+$/.test(path)
}
