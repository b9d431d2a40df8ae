/** Actions of a rate limiter: rejected temporarily, rejected permanently, or only observed. */
export const GUARD_KINDS = ['throttle', 'blocklist', 'track'] as const
export type GuardKind = (typeof GUARD_KINDS)[number]
