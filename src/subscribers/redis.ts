import { redisCommands } from '../capture/breadcrumbs/redis.js'
import { Tracker } from '../index.js'
import type { TrackerInstance } from '../tracker.js'

/**
 * Records commands of ioredis (5.11 or later) and node-redis (5.12 or later) as breadcrumbs, using their tracing
 * channels. Opt-in, because a listener on the ioredis channels has a side effect: a rejected command without a handler is
 * no longer an unhandled rejection. Does nothing unless `enable_breadcrumbs` is on. Returns a function that stops
 * recording.
 * @example instrumentRedis()
 */
export function instrumentRedis(tracker: TrackerInstance = Tracker): () => void {
  return tracker.start().attach(redisCommands)
}
