import { setTimeout as sleep } from 'node:timers/promises'
import { createTracker } from '../../dist/index.js'
import { toLogErrorInput } from './events.mjs'

export async function startTracker(url, settings = {}) {
  const tracker = createTracker({
    database: url,
    application_name: 'bench',
    dashboard_username: 'bench',
    dashboard_password: 'bench-password',
    // The bare driver writes every row, so the storm guard is off.
    max_full_occurrences_per_minute: 1_000_000,
    max_groups_per_place: 1_000_000,
    ...settings,
  })
  await tracker.ready()
  return tracker
}

/** Runs concurrent callers. Each awaits its LogError before the next call. */
export async function logAll(tracker, events, callers) {
  let next = 0
  const caller = async () => {
    while (next < events.length) {
      const logged = await tracker.Commands.LogError.call(toLogErrorInput(events[next++]))
      if (!logged) throw new Error('an error was not recorded')
    }
  }
  await Promise.all(Array.from({ length: Math.min(callers, events.length) }, caller))
}

const COMMIT_TIMEOUT_MS = 10_000

/** Resolves when memory and spool are empty, so that everything is committed. */
export async function drained(tracker) {
  await tracker.flush()
  let minPending = Number.POSITIVE_INFINITY
  for (let lastProgressAt = performance.now(); ; ) {
    const { buffered, queued, spool } = await tracker.stats()
    const pending = buffered + queued + spool.files
    if (pending === 0) return
    if (pending < minPending) lastProgressAt = performance.now()
    minPending = Math.min(minPending, pending)
    if (performance.now() - lastProgressAt > COMMIT_TIMEOUT_MS)
      throw new Error(`${spool.files} accepted batches were not committed in time`)
    await sleep(5)
    await tracker.flush()
  }
}
