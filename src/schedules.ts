import type { Schedule } from './jobs/schedule.js'
import { nextDigest } from './model/digest-turn.js'
import { DAY, HOUR, MINUTE } from './model/time.js'

const every = (interval: number) => (last_run_at: number) => last_run_at + interval

/** THE LIST of what happens by itself, each in one process of many. What tells people goes by their application's settings. */
export const SCHEDULES: readonly Schedule[] = [
  { name: 'cleanup', title: 'The daily cleanup', dueAt: every(DAY) },
  { name: 'baselines', title: 'The calculation of baselines', dueAt: every(DAY) },
  { name: 'cascades', title: 'The detection of cascades', dueAt: every(HOUR) },
  {
    name: 'baseline_alerts',
    title: 'The comparison with the baselines',
    dueAt: (last_run_at, { enable_baseline_alerts }) => (enable_baseline_alerts ? last_run_at + MINUTE : null),
    per_application: true,
  },
  // Somebody who installs it at noon does not want the mail of the morning.
  { name: 'digest', title: 'The digest', dueAt: nextDigest, per_application: true, awaits_first: true },
]
