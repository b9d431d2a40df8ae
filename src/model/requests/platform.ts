export type Platform = 'iOS' | 'Android' | 'Web' | 'API'

const SPELLINGS = new Map(['iOS', 'Android', 'API', 'Web'].map((platform) => [platform.toLowerCase(), platform]))

/** Normalizes the spelling of known platforms: clients send `ios`, `android`, `web`. Other text is not changed. */
export function normalizePlatform(name: string | undefined): string {
  if (!name) return 'API'
  return SPELLINGS.get(name.toLowerCase()) ?? name
}

const MAX_USER_AGENT_LENGTH = 512

/**
 * The first match wins: a crawler also claims to be a phone, and a Windows phone claims to be Android and iPhone. A
 * library without a device name (plain Dart) could run on a server.
 */
const USER_AGENT_PATTERNS: readonly (readonly [RegExp, Platform])[] = [
  // CUBOT is a phone manufacturer.
  [/(?<!cu)bot(?![a-z])|crawler|spider|slurp|\+https?:/i, 'API'],
  [/powershell|winhttp|jsdom/i, 'API'],
  [/windows phone|iemobile/i, 'Web'],
  // On an Intel Mac, the user agent of CFNetwork includes the CPU architecture.
  [/\bcfnetwork\/(?!.*\bx86_64)/i, 'iOS'],
  [/\b(?:iphone|ipad|ipod)|\bios\b/i, 'iOS'],
  [/\bandroid\b|\bdalvik\/|\bokhttp\b/i, 'Android'],
  [/^(?:mozilla|opera|lynx|e?links|w3m|dillo|netsurf)\b/i, 'Web'],
]

const MAX_CACHED_USER_AGENTS = 500
const cachedPlatforms = new Map<string, Platform>()

/** The platform of the client that sent a request. Programs, crawlers and requests without a user agent are API. */
export function detectPlatform(userAgent: string | undefined): Platform {
  if (!userAgent) return 'API'
  const text = userAgent.slice(0, MAX_USER_AGENT_LENGTH)
  const cached = cachedPlatforms.get(text)
  if (cached !== undefined) return cached
  const platform = USER_AGENT_PATTERNS.find(([pattern]) => pattern.test(text))?.[1] ?? 'API'
  if (cachedPlatforms.size >= MAX_CACHED_USER_AGENTS) cachedPlatforms.clear()
  cachedPlatforms.set(text, platform)
  return platform
}

/** Maximum number of platforms on a page, by occurrences. Clients choose the name, so their number is unlimited. */
export const MAX_LISTED_PLATFORMS = 50
