export type Platform = 'iOS' | 'Android' | 'Web' | 'API'

const SPELLINGS = new Map(['iOS', 'Android', 'API', 'Web'].map((platform) => [platform.toLowerCase(), platform]))

/** The platform in the dashboard's own spelling: clients may send `ios`, `android`, `web`. Free text stays as it is. */
export function platformOf(given: string | undefined): string {
  if (!given) return 'API'
  return SPELLINGS.get(given.toLowerCase()) ?? given
}

const USER_AGENT_LIMIT = 512

/**
 * First match wins: a crawler also names the phone it plays, a Windows phone also claims to be an Android and an iPhone.
 * An app's library without a word about its device (plain Dart) may as well run on a server.
 */
const SIGNS: readonly (readonly [RegExp, Platform])[] = [
  // "CUBOT" makes phones.
  [/(?<!cu)bot(?![a-z])|crawler|spider|slurp|\+https?:/i, 'API'],
  [/powershell|winhttp|jsdom/i, 'API'],
  [/windows phone|iemobile/i, 'Web'],
  // The same library on a Mac names its processor.
  [/\bcfnetwork\/(?!.*\bx86_64)/i, 'iOS'],
  [/\b(?:iphone|ipad|ipod)|\bios\b/i, 'iOS'],
  [/\bandroid\b|\bdalvik\/|\bokhttp\b/i, 'Android'],
  [/^(?:mozilla|opera|lynx|e?links|w3m|dillo|netsurf)\b/i, 'Web'],
]

const MAX_REMEMBERED_USER_AGENTS = 500
const rememberedPlatforms = new Map<string, Platform>()

/** The platform of the client that sent a request. Programs, crawlers and requests without a user agent are API. */
export function platformOfUserAgent(user_agent: string | undefined): Platform {
  if (!user_agent) return 'API'
  const text = user_agent.slice(0, USER_AGENT_LIMIT)
  const known = rememberedPlatforms.get(text)
  if (known !== undefined) return known
  const platform = SIGNS.find(([sign]) => sign.test(text))?.[1] ?? 'API'
  if (rememberedPlatforms.size >= MAX_REMEMBERED_USER_AGENTS) rememberedPlatforms.clear()
  rememberedPlatforms.set(text, platform)
  return platform
}

/** Platforms on a page, those with the most occurrences. Clients name their platform themselves and may invent any number. */
export const MAX_LISTED_PLATFORMS = 50
