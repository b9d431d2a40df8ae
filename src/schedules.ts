import { calculateAllBaselines } from './analytics/baseline-calculator.js'
import { detectCascades } from './analytics/cascade-detector.js'
import type { Schedule } from './jobs/schedule.js'
import { DAY, HOUR } from './model/time.js'
import { cleanupErrors } from './triage/cleanup-errors.js'

/** How far back the hourly run adds up: a week has weekdays and a weekend. */
const CASCADE_HOURS = 7 * 24

/** What happens by itself, each in one process of many. */
export const SCHEDULES: readonly Schedule[] = [
  { name: 'cleanup', title: 'The daily cleanup', every: DAY, run: (context) => cleanupErrors.run(context, {}) },
  {
    name: 'baselines',
    title: 'The calculation of baselines',
    every: DAY,
    run: (context) => calculateAllBaselines.run(context, {}),
  },
  {
    name: 'cascades',
    title: 'The detection of cascades',
    every: HOUR,
    run: (context) => detectCascades.run(context, { lookback_hours: CASCADE_HOURS }),
  },
]
