/** URL without potentially secret parts: no query, fragment or user. Relative for URLs of this site. */
export function safeUrl(url: unknown): string {
  const { protocol, origin, pathname } = new URL(url as string, location.href)
  // Paths of other schemes contain data.
  if (protocol[0] !== 'h') return protocol
  return origin === location.origin ? pathname : origin + pathname
}

/**
 * Removes user, query and fragment from the URLs in a string; keeps the line and column of a frame. A path without a
 * protocol or host counts as a URL if a name and a value follow: `/reset?token=abc`.
 */
export function redactUrls(text: string): string {
  return text
    .replace(/\/\/[^\s/?#]*@/g, '//')
    .replace(/((\/\/[^\s?#]+)[?#]|[?#][^\s?#=]*=)\S*?(?=(:\d+:\d+[),]*)?(\s|$))/g, '$2')
}
