import { isMainThread } from 'node:worker_threads'
import type { CaptureContext } from '../../../capture/capture-context.js'
import { readOptions } from '../../../config/options.js'
import { OTHERS } from '../../../model/others.js'
import { HOUR } from '../../../model/time.js'
import type { HourCounts } from '../../../store/counters/hour-counts.js'
import { SWALLOWED_HOURS } from '../../../store/counters/hour-tables.js'
import { swallowedOptions } from '../options.js'
import { currentDetection, type Detection } from './detection.js'
import { raiseLocation } from './raise-location.js'
import { swallowedExceptionsSupport } from './support.js'

/** For hosts that were not started so that anything could be counted. */
const NOT_PRELOADED =
  'Swallowed exceptions are not counted in this process, because its modules were loaded before Faultboard: start it with FAULTBOARD_DETECT_SWALLOWED_EXCEPTIONS=true node --import faultboard/register app.js'

/** Names that stand for all places of a process that has met more of them than it may remember. */
const OTHER_PLACES = { error_type: OTHERS, raise_location: OTHERS }

/**
 * Writes down every now and then what the marks have counted, and says so where there are none. Of several trackers in a
 * process, the first keeps the book. Gives the function that ends it; what was not written then is left to the next.
 */
export function keepSwallowed(context: CaptureContext): () => void {
  const detection = currentDetection()
  if (detection === null) {
    if (isMainThread) context.log.warn(swallowedExceptionsSupport().reason ?? NOT_PRELOADED)
    return () => {}
  }
  if (detection.is_kept) return () => {}
  detection.is_kept = true
  adopt(detection, context)
  const { tallies } = context
  const options = readOptions(context.config, swallowedOptions)
  const interval_ms = options.swallowed_exception_flush_interval * 1000
  const counts = tallies.forTable(SWALLOWED_HOURS, {
    title: 'swallowed exceptions',
    maxRows: options.swallowed_exception_max_cache_size * ROWS_PER_PLACE,
    overflowNames: (names) => ({ ...names, ...OTHER_PLACES }),
    flushAfterMs: interval_ms,
  })
  const stopFilling = tallies.beforeFlush(() => handOver(detection, counts, context))
  // What an earlier process had to leave on disk.
  void tallies.flush()
  const timer = setInterval(() => void tallies.flush(), interval_ms)
  timer.unref()
  return () => {
    clearInterval(timer)
    stopFilling()
    detection.is_kept = false
  }
}

/** One for what was raised, and some for where it was caught. */
const ROWS_PER_PLACE = 4

function adopt({ ledger, own_folder }: Detection, { config, positions, now }: CaptureContext): void {
  const root = config.project_root
  const options = readOptions(config, swallowedOptions)
  ledger.configure({
    now,
    locate: (error) => raiseLocation(error, { root, own_folder, positions }),
    max_tallies: options.swallowed_exception_max_cache_size,
    ignored: options.swallowed_exception_ignore_classes,
  })
}

type Counts = HourCounts<
  'error_type' | 'raise_location' | 'rescue_location' | 'handler_kind',
  'raise_count' | 'rescue_count' | 'reported_count' | 'last_seen_at'
>

function handOver({ ledger }: Detection, counts: Counts, { counters, now }: CaptureContext): void {
  const { rows, lost } = ledger.take()
  if (lost > 0) counters.add('swallowed_exceptions_given_up', lost)
  for (const { hour, raise_count, rescue_count, reported_count, ...names } of rows) {
    // As near as the time between two flushes.
    const last_seen_at = rescue_count > 0 ? Math.min(now(), hour + HOUR - 1) : 0
    counts.add(names, { raise_count, rescue_count, reported_count, last_seen_at }, hour)
  }
}
