/**
 * Whether the path can be matched as it was sent. Our addresses need no encoding, and whatever a URL parser would decode
 * or resolve (`%2e`, `..`, `//`) could lead past a guard that the host put before one of them.
 */
export function isPlainPath(path: string): boolean {
  return path === '/' || /^(?:\/(?!\.{1,2}(?:\/|$))[\w.-]+)+$/.test(path)
}
