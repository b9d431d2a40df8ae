import { type Json, recordOf, textIn } from './values.js'

/** SDKs that do not run in a browser although they report `javascript`. */
const SERVER_SDK =
  /^sentry\.javascript\.(?:node|bun|deno|cloudflare|vercel-edge|aws-serverless|google-cloud-serverless|nestjs|effect)/

const SYSTEMS: readonly (readonly [RegExp, string])[] = [
  [/^(?:ios|ipados|tvos|watchos|visionos)$/i, 'iOS'],
  [/^android$/i, 'Android'],
]

/** One of the four platforms: by device for a phone, by language otherwise. */
export function platformOf(event: Json): string {
  const sdk = textIn(recordOf(event.sdk)?.name) ?? ''
  const contexts = recordOf(event.contexts) ?? {}
  const system = textIn(recordOf(contexts.os)?.name) ?? ''
  const platform = textIn(event.platform)?.toLowerCase() ?? ''
  // A page in the browser of a phone is still a web page.
  if (platform === 'javascript' && !/react-native|capacitor|cordova/.test(sdk)) {
    return SERVER_SDK.test(sdk) ? 'API' : 'Web'
  }
  const device = SYSTEMS.find(([sign]) => sign.test(system))?.[1]
  if (device) return device
  if (['cocoa', 'objc', 'swift'].includes(platform)) return system === '' ? 'iOS' : system.slice(0, 64)
  if (/android/.test(sdk)) return 'Android'
  return platform === 'javascript' || recordOf(contexts.browser) ? 'Web' : 'API'
}
