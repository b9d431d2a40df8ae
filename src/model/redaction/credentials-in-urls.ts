const SCHEME = /[a-z][a-z\d+.-]{1,20}:\/\//gi
const ENCODED_URL_USER =
  /([a-z][a-z\d+.-]{1,20}%(?:25){0,3}3a%(?:25){0,3}2f%(?:25){0,3}2f)(?:[^\s/?#"'<>&%]|'(?=[\w%])|%(?!(?:25){0,3}(?:40|2f)))+(%(?:25){0,3}40)/gi
/** `user:S@tcp(127.0.0.1:3306)/db` in Go, `jdbc:oracle:thin:scott/S@host` in Java. */
const DRIVER_USER =
  /((?<![\w.-])[\w.-]{1,80}:|thin:[\w.-]{1,80}\/)(?:[^\s@"']|'(?=\w)){1,300}(?=@(?:tcp|unix)\(|@(?:\/\/)?[\w.-]{1,80}:\d)/gi
/** A single quote before a letter or digit is part of a password, as in `u:o'brien@host`. */
const END_OF_RUN = /[\s"<>`]|'(?![\w@])/g
const END_OF_AUTHORITY = /[/?#]/
/**
 * Schemes of web pages, whose paths often contain an @. All other schemes belong to databases, brokers, directories and
 * servers.
 */
const WEB_SCHEME = /^(?:https?|wss?|git(?:\+\w+)?|ssh|file|webpack|npm|vscode)(?:$|:)/i
const PORT = /^\d{1,5}$/

/** Replaces the user and password of every URL with `filtered`. */
export function withoutUrlCredentials(text: string, filtered: string): string {
  let redacted = text
  if (text.includes('@')) {
    redacted = text.includes('://') ? withoutUserInfo(text, filtered) : text
    if (redacted.includes('@tcp(') || redacted.includes('@unix(') || redacted.includes('thin:'))
      redacted = redacted.replace(DRIVER_USER, `$1${filtered}`)
  }
  return redacted.includes('40') && redacted.includes('%')
    ? redacted.replace(ENCODED_URL_USER, `$1${filtered}$2`)
    : redacted
}

/** Searches each run without spaces for its @ once, so that many schemes in one run do not multiply the work. */
function withoutUserInfo(text: string, filtered: string): string {
  let result = ''
  let copied = 0
  let runEnd = -1
  let lastAt = -1
  SCHEME.lastIndex = 0
  for (let match = SCHEME.exec(text); match; match = SCHEME.exec(text)) {
    const start = SCHEME.lastIndex
    if (start > runEnd) {
      runEnd = endOfRun(text, start)
      lastAt = text.lastIndexOf('@', runEnd - 1)
    }
    if (lastAt < start) {
      SCHEME.lastIndex = runEnd
      continue
    }
    const at = endOfUser(text, start, lastAt, match[0])
    if (at < 0 || text.slice(start, at) === 'git') continue
    result += text.slice(copied, start) + filtered
    copied = at
    SCHEME.lastIndex = at
  }
  return result + text.slice(copied)
}

function endOfRun(text: string, start: number): number {
  END_OF_RUN.lastIndex = start
  return END_OF_RUN.exec(text)?.index ?? text.length
}

/** Position of the @ after the user and password; -1 if there is none. */
function endOfUser(text: string, start: number, lastAt: number, scheme: string): number {
  const before = text.slice(start, lastAt)
  // A password can continue after an unencoded /, ? or #.
  if (!WEB_SCHEME.test(scheme.slice(0, -3))) return lastAt
  const authorityLength = before.search(END_OF_AUTHORITY)
  if (authorityLength < 0) return lastAt
  const authority = before.slice(0, authorityLength)
  const at = authority.lastIndexOf('@')
  if (at >= 0 && !authority.slice(0, at).includes(':')) return start + at
  const colon = authority.indexOf(':')
  const hasInvalidPort = colon >= 0 && at < 0 && !PORT.test(authority.slice(colon + 1))
  if (at < 0) return hasInvalidPort && !before.slice(authorityLength).includes('=') ? lastAt : -1
  // The second @ ends the password in `u:a@b/S@host`, but not in `u:p@host/@scope` or `u:p@host/?mail=a@b`.
  const path = before.slice(authorityLength)
  return path.includes('=') || text[lastAt - 1] === '/' || lastAt === start + at ? start + at : lastAt
}
