import { isMainThread } from 'node:worker_threads'
import type { CaptureContext } from '../../../capture/capture-context.js'
import { readOptions } from '../../../config/options.js'
import { OTHERS } from '../../../model/frequent-names.js'
import { HOUR } from '../../../model/time.js'
import type { HourCounts } from '../../../store/counters/hour-counts.js'
import { SWALLOWED_HOURS } from '../hours.js'
import { swallowedOptions } from '../options.js'
import { currentDetection, type Detection, swallowedExceptionsSupport } from './detection.js'
import { raiseLocation } from './raise-location.js'

const NOT_PRELOADED =
  'Swallowed exceptions are not counted in this process, because its modules were loaded before Faultboard. Start it with FAULTBOARD_DETECT_SWALLOWED_EXCEPTIONS=true node --import faultboard/register app.js'

/** One row for raised errors and a few for the handlers that rescue them. */
const ROWS_PER_LOCATION = 4

/**
 * Stores the counts of the ledger at each flush. Logs a warning in a process without detection. If a process has several
 * trackers, only the first stores counts. Returns the function that stops storing; unflushed counts stay in the ledger.
 */
export function recordSwallowedExceptions(context: CaptureContext): () => void {
  const detection = currentDetection()
  if (detection === null) {
    if (isMainThread) context.log.warn(swallowedExceptionsSupport().reason ?? NOT_PRELOADED)
    return () => {}
  }
  if (detection.hasRecorder) return () => {}
  detection.hasRecorder = true
  configureLedger(detection, context)
  const { tallies } = context
  const options = readOptions(context.config, swallowedOptions)
  const intervalMs = options.swallowed_exception_flush_interval * 1000
  const counts = tallies.forTable(SWALLOWED_HOURS, {
    title: 'swallowed exceptions',
    maxRows: options.swallowed_exception_max_cache_size * ROWS_PER_LOCATION,
    overflowNames: { error_type: OTHERS, raise_location: OTHERS },
    flushAfterMs: intervalMs,
  })
  const removeFlushHook = tallies.beforeFlush(() => transferCounts(detection, counts, context))
  // Stores the counts that an earlier process left in the spool folder.
  void tallies.flush()
  const timer = setInterval(() => void tallies.flush(), intervalMs)
  timer.unref()
  return () => {
    clearInterval(timer)
    removeFlushHook()
    detection.hasRecorder = false
  }
}

function configureLedger({ ledger, ownFolder }: Detection, { config, positions, now }: CaptureContext): void {
  const root = config.project_root
  const options = readOptions(config, swallowedOptions)
  ledger.configure({
    now,
    locate: (error) => raiseLocation(error, { root, ownFolder, positions }),
    maxTallies: options.swallowed_exception_max_cache_size,
    ignoredTypes: options.swallowed_exception_ignore_classes,
  })
}

type Counts = HourCounts<
  'environment' | 'error_type' | 'raise_location' | 'rescue_location' | 'handler_kind',
  'raise_count' | 'rescue_count' | 'reported_count' | 'last_seen_at'
>

function transferCounts({ ledger }: Detection, counts: Counts, { config, counters, now }: CaptureContext): void {
  const { rows, evicted } = ledger.take()
  if (evicted > 0) counters.add('swallowed_locations_evicted', evicted)
  for (const { hour, raise_count, rescue_count, reported_count, ...names } of rows) {
    // Accurate to one flush interval.
    const last_seen_at = rescue_count > 0 ? Math.min(now(), hour + HOUR - 1) : 0
    counts.add(
      { environment: config.environment, ...names },
      { raise_count, rescue_count, reported_count, last_seen_at },
      hour,
    )
  }
}
