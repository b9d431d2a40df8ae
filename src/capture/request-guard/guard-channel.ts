import { listenOn } from '../breadcrumbs/subscriptions.js'
import { hasRoomToNote } from '../guards/stack-room.js'
import type { Source } from '../sources/source.js'

/** Where a library tells what it has refused, without importing anything of ours. */
const REQUEST_GUARD_CHANNEL = 'faultboard:request-guard'

/**
 * Counts what is published on the channel.
 *
 * @example
 * import { channel } from 'node:diagnostics_channel'
 * channel('faultboard:request-guard').publish({ kind: 'throttle', rule: 'sign-in', request })
 */
export const requestGuardChannel: Source = (reporter) => {
  const { request_guard } = reporter.context
  if (!request_guard) return () => {}
  return listenOn(reporter, {
    [REQUEST_GUARD_CHANNEL]: (event: unknown) => {
      if (hasRoomToNote()) request_guard.record(event)
    },
  })
}
