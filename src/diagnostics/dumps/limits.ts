/** Longest CPU profile that may be asked for. */
export const MAX_PROFILE_MS = 30_000
