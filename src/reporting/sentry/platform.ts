import { asRecord, asText, type Json } from './values.js'

/** SDKs that do not run in a browser although they report `javascript`. */
const SERVER_SDK =
  /^sentry\.javascript\.(?:node|bun|deno|cloudflare|vercel-edge|aws-serverless|google-cloud-serverless|nestjs|effect)/

const PLATFORM_BY_SYSTEM: readonly (readonly [RegExp, string])[] = [
  [/^(?:ios|ipados|tvos|watchos|visionos)$/i, 'iOS'],
  [/^android$/i, 'Android'],
]

/** Maps an event to one of the four platforms: phones by device, all other clients by language. */
export function eventPlatform(event: Json): string {
  const sdk = asText(asRecord(event.sdk)?.name) ?? ''
  const contexts = asRecord(event.contexts) ?? {}
  const system = asText(asRecord(contexts.os)?.name) ?? ''
  const platform = asText(event.platform)?.toLowerCase() ?? ''
  // A page in a phone's browser is still a web page.
  if (platform === 'javascript' && !/react-native|capacitor|cordova/.test(sdk)) {
    return SERVER_SDK.test(sdk) ? 'API' : 'Web'
  }
  const device = PLATFORM_BY_SYSTEM.find(([pattern]) => pattern.test(system))?.[1]
  if (device) return device
  if (['cocoa', 'objc', 'swift'].includes(platform)) return system === '' ? 'iOS' : system.slice(0, 64)
  if (/android/.test(sdk)) return 'Android'
  return platform === 'javascript' || asRecord(contexts.browser) ? 'Web' : 'API'
}
