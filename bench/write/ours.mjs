import { setTimeout as sleep } from 'node:timers/promises'
import { createTracker } from '../../dist/index.js'
import { inputOf } from './events.mjs'

export async function startTracker(url, settings = {}) {
  const tracker = createTracker({
    database: url,
    application_name: 'bench',
    dashboard_username: 'bench',
    dashboard_password: 'a password for the bench',
    // The bare driver writes every row, and so must we.
    max_full_occurrences_per_minute: 1_000_000,
    max_groups_per_place: 1_000_000,
    ...settings,
  })
  await tracker.ready()
  return tracker
}

/** So many callers at a time, each waiting for its LogError before it comes with the next. */
export async function logAll(tracker, events, callers) {
  let next = 0
  const caller = async () => {
    while (next < events.length) {
      const logged = await tracker.Commands.LogError.call(inputOf(events[next++]))
      if (!logged) throw new Error('an event was not recorded')
    }
  }
  await Promise.all(Array.from({ length: Math.min(callers, events.length) }, caller))
}

const PATIENCE_MS = 10_000

/** Settles when nothing is in memory or on disk any more: everything is committed. */
export async function drained(tracker) {
  await tracker.flush()
  let least = Number.POSITIVE_INFINITY
  for (let since = performance.now(); ; ) {
    const { buffered, queued, spool } = await tracker.stats()
    const left = buffered + queued + spool.files
    if (left === 0) return
    if (left < least) since = performance.now()
    least = Math.min(least, left)
    if (performance.now() - since > PATIENCE_MS) throw new Error(`${spool.files} accepted batches are never committed`)
    await sleep(5)
    await tracker.flush()
  }
}
