import { redisCommands } from '../capture/breadcrumbs/redis.js'
import { Tracker } from '../index.js'
import type { TrackerInstance } from '../tracker.js'

/**
 * Leaves the commands of ioredis and node-redis as breadcrumbs, by their tracing channels. Not on by itself: once anybody
 * listens to those of ioredis, a rejected command that nobody awaits is no longer an unhandled rejection. It does
 * nothing unless `enable_breadcrumbs` is on. Gives the function that ends it.
 *
 * @example
 * instrumentRedis()
 */
export function instrumentRedis(tracker: TrackerInstance = Tracker): () => void {
  return tracker.start().attach(redisCommands)
}
