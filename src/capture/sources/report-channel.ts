import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import { types } from 'node:util'
import { isUnhandled, MISSING, readField, readFields } from '../fields.js'
import { guarded } from '../guarded.js'
import { whenStackAllows } from '../guards/deferred-reports.js'
import type { Source } from './source.js'

/** Channel where libraries publish `{ error, handled, context, severity }` without importing this package. */
const REPORT_CHANNEL = 'faultboard:report'

/**
 * Records errors published on the channel.
 * @example
 * import { channel } from 'node:diagnostics_channel'
 * channel('faultboard:report').publish({ error, handled: true, context: { job: 'nightly' } })
 */
export const reportChannel: Source = ({ report, context: { counters, log } }) => {
  const recordMessage = guarded(counters, REPORT_CHANNEL, (message: unknown) => {
    if (typeof message !== 'object' || message === null || types.isProxy(message)) return
    if (types.isNativeError(message)) {
      report(message, { source: 'channel' })
      return
    }
    const { exception, ...fields } = readFields(message, REPORT_CHANNEL, log)
    const error = readField(message, 'error')
    const thrown = error === MISSING ? exception : error
    report(thrown, { source: 'channel', ...fields, unhandled: isUnhandled(message) })
  })
  const onReport = (message: unknown) => whenStackAllows(() => recordMessage(message))
  subscribe(REPORT_CHANNEL, onReport)
  return () => unsubscribe(REPORT_CHANNEL, onReport)
}
