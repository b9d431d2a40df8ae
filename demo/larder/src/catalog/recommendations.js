import { setTimeout } from 'node:timers/promises'

export class RecommendationsError extends Error {
  name = 'RecommendationsError'
}

/** Recommendations are optional: the page does not wait longer than this. */
const TIMEOUT_MS = 40

export async function recommendations(user_id, { tracker }) {
  tracker.addBreadcrumb({ category: 'http', message: `GET https://recommend.larder.example/users/${user_id}` })
  try {
    return await setTimeout(2000, [], { signal: AbortSignal.timeout(TIMEOUT_MS) })
  } catch (cause) {
    throw new RecommendationsError(`No recommendations for ${user_id} within ${TIMEOUT_MS} ms`, { cause })
  }
}
