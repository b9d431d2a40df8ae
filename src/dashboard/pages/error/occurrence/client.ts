import bowser from 'bowser'

export interface ClientDescription {
  browser: string | null
  system: string | null
  device: string | null
}

/** Real user agents are shorter; a longer text is cut before it is parsed. */
const MAX_PARSED_LENGTH = 512

/**
 * Browser, operating system and device of a user agent, as far as it names them.
 * @example describeClient('Mozilla/5.0 (iPhone; CPU iPhone OS 17_5 like Mac OS X) …') // { browser: 'Safari 17.5', … }
 */
export function describeClient(user_agent: string | null): ClientDescription {
  if (!user_agent?.trim()) return { browser: null, system: null, device: null }
  const { browser, os, platform } = bowser.parse(user_agent.slice(0, MAX_PARSED_LENGTH))
  return {
    browser: joinWords(browser.name, majorVersion(browser.version)),
    // Every macOS since 2019 sends the version of Catalina.
    system: os.name === 'macOS' ? os.name : joinWords(os.name, os.versionName ?? os.version),
    device: platform.model ? joinWords(platform.vendor, platform.model) : (platform.type ?? null),
  }
}

function joinWords(...parts: readonly (string | undefined)[]): string | null {
  return parts.filter(Boolean).join(' ') || null
}

/** Chrome and Firefox send zeros after the major version. */
function majorVersion(version: string | undefined): string | undefined {
  return version?.replace(/(\.0)+$/, '')
}
