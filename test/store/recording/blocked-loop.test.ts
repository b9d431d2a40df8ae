import { expect, test } from 'vitest'
import { describeEachDatabase } from '../../support/databases.js'
import { freshStorage, trackerAt } from '../../support/tracker.js'

/** Longer than a write waits for the database. */
const BLOCKED_MS = 12_000

describeEachDatabase(
  'an event loop that is blocked during a write',
  (database) => {
    test('a blocked event loop does not make a healthy database unavailable', { timeout: 60_000 }, async () => {
      const { tracker, lines } = trackerAt(await freshStorage(database))
      await tracker.Commands.LogError.call({ error_type: 'Before', message: 'the block' })
      const logged = tracker.Commands.LogError.call({ error_type: 'During', message: 'the block' })
      // The write starts in the next event loop iteration and awaits its first response when the block begins.
      await new Promise((resume) => setImmediate(resume))
      await new Promise((resume) => setImmediate(resume))
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, BLOCKED_MS)
      expect((await logged)?.state).toBe('recorded')
      expect((await tracker.stats()).unavailable_since).toBeNull()
      expect(lines).toEqual([])
    })
  },
  { except: ['sqlite'] },
)
