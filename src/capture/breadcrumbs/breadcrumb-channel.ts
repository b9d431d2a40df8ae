import { types } from 'node:util'
import { hasRoomForBreadcrumb } from '../guards/stack-room.js'
import type { Source } from '../sources/source.js'
import { subscribeAll } from './subscriptions.js'

/** Channel where libraries publish `{ category, message, duration_ms, metadata }` without importing this package. */
const BREADCRUMB_CHANNEL = 'faultboard:breadcrumb'

/**
 * Records breadcrumbs published on the channel.
 * @example
 * import { channel } from 'node:diagnostics_channel'
 * channel('faultboard:breadcrumb').publish({ category: 'cache', message: 'miss', metadata: { key: 'prices' } })
 */
export const breadcrumbChannel: Source = (reporter) => {
  const { breadcrumbs } = reporter.context
  return subscribeAll(reporter, {
    [BREADCRUMB_CHANNEL]: (crumb: unknown) => {
      if (!hasRoomForBreadcrumb() || typeof crumb !== 'object' || crumb === null || types.isProxy(crumb)) return
      const { category, message, durationMs, duration_ms = durationMs, metadata } = crumb as Record<string, unknown>
      if (typeof category !== 'string' || typeof message !== 'string') return
      breadcrumbs.add({
        category,
        message,
        duration_ms: typeof duration_ms === 'number' ? duration_ms : undefined,
        metadata: typeof metadata === 'object' && metadata !== null ? (metadata as Record<string, unknown>) : undefined,
      })
    },
  })
}
