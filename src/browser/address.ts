/** An address without what may be secret in it: no query, no fragment, no user; short for those of this site. */
export function shownAddress(given: unknown): string {
  const { protocol, origin, pathname } = new URL(given as string, location.href)
  // The path of others holds data.
  if (protocol[0] !== 'h') return protocol
  return origin === location.origin ? pathname : origin + pathname
}

/**
 * A text whose addresses have lost user, query and fragment; line and column of a frame stay. What begins with neither
 * a protocol nor a host is an address where a name and a value follow: `/reset?token=abc`.
 */
export function withoutQueries(text: string): string {
  return text
    .replace(/\/\/[^\s/?#]*@/g, '//')
    .replace(/((\/\/[^\s?#]+)[?#]|[?#][^\s?#=]*=)\S*?(?=(:\d+:\d+[),]*)?(\s|$))/g, '$2')
}
