import bowser from 'bowser'

export interface ClientDescription {
  browser: string | null
  system: string | null
  device: string | null
}

/** Real user agents are shorter. Longer text is truncated before parsing. */
const MAX_PARSED_LENGTH = 512

/**
 * Browser, operating system and device of a user agent, if present.
 * @example describeClient('Mozilla/5.0 (iPhone; CPU iPhone OS 17_5 like Mac OS X) …') // { browser: 'Safari 17.5', … }
 */
export function describeClient(user_agent: string | null): ClientDescription {
  const text = user_agent?.trim().slice(0, MAX_PARSED_LENGTH) ?? ''
  if (text === '') return { browser: null, system: null, device: null }
  if (!/^(?:Mozilla|Opera)\//.test(text)) return describeProduct(text)
  const { browser, os, platform } = bowser.parse(text)
  return {
    browser: joinWords(browser.name, majorVersion(browser.version)),
    // Browsers on every macOS since 2019 report the version of Catalina.
    system: os.name === 'macOS' ? os.name : joinWords(os.name, os.versionName ?? os.version),
    device: platform.model ? joinWords(platform.vendor, platform.model) : (platform.type ?? null),
  }
}

const SYSTEM = /^(?:Android|iOS|iPadOS|iPhone OS|macOS|Mac OS X|tvOS|watchOS|Windows|Linux|Ubuntu) ?[\d.]*$/
/** Excludes `U` ("strong encryption"), and the languages and scales that apps send. */
const DEVICE = /^(?!U$|Linux$|Scale\/)[A-Z][\w ,.()-]{2,40}$/i

/**
 * Describes an app or library whose user agent starts with its own name: `Larder/8.4.0 (Pixel 8; Android 14)`. The
 * comment is free text, so a device is recognized only next to a system.
 */
function describeProduct(text: string): ClientDescription {
  const [, name = '', version, comment = ''] = /^([^\s/(]+)(?:\/([\w.+-]+))?(?:[^(]*\(([^)]*)\))?/.exec(text) ?? []
  const parts = comment.split(';').map((part) => part.trim().replace(/ Build\/.*$/, ''))
  const systems = parts.filter((part) => SYSTEM.test(part))
  const system = systems.find((part) => part !== 'Linux') ?? systems[0] ?? null
  const device = parts.find((part) => DEVICE.test(part) && !SYSTEM.test(part) && !LANGUAGE.test(part))
  return { browser: joinWords(name, version), system, device: (system && device) ?? null }
}

const LANGUAGE = /^[a-z]{2}([-_][a-z]{2})?$/i

function joinWords(...parts: readonly (string | undefined)[]): string | null {
  return parts.filter(Boolean).join(' ') || null
}

/** Chrome and Firefox send zeros after the major version. */
function majorVersion(version: string | undefined): string | undefined {
  return version?.replace(/(\.0)+$/, '')
}
