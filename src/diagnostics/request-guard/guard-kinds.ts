/** What a rate limiter did: refused for now, refused for good, or only watched. */
export const GUARD_KINDS = ['throttle', 'blocklist', 'track'] as const
export type GuardKind = (typeof GUARD_KINDS)[number]
