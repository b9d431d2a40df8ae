import { hasSubscribers } from 'node:diagnostics_channel'
import { join } from 'node:path'
import { getEnvironmentData } from 'node:worker_threads'
import { expect, test } from 'vitest'
import { describeEachDatabase } from '../../support/databases.js'
import { freshTracker, temporaryFolder } from '../../support/tracker.js'
import { filesIn } from '../fixtures/deaths.js'

describeEachDatabase(
  'the hooks in the process',
  (database) => {
    test('are all gone after shutdown, and the settings of the process are as they were', async () => {
      const crash_capture_path = join(temporaryFolder(), 'crashes')
      const before = surroundings()
      const { tracker } = await freshTracker(database, { crash_capture_path, detect_unclean_shutdown: true })
      expect(surroundings()).not.toEqual(before)
      expect(filesIn(crash_capture_path)).toEqual([expect.stringMatching(/^running-/)])
      expect(process.report).toMatchObject({ directory: crash_capture_path, reportOnFatalError: true })
      await tracker.shutdown()
      expect(surroundings()).toEqual(before)
      expect(filesIn(crash_capture_path)).toEqual([])
    })

    test('are one of a kind, however many trackers there are', async () => {
      const trackers = await Promise.all([1, 2, 3].map(() => freshTracker(database)))
      const counted = listeners()
      const one_more = await freshTracker(database)
      expect(listeners()).toEqual(counted)
      for (const { tracker } of [...trackers, one_more]) await tracker.shutdown()
    })

    test('never listen to rejections or exceptions where the host does not', async () => {
      const listened = process.listeners('unhandledRejection')
      for (const listener of listened) process.off('unhandledRejection', listener)
      try {
        const { tracker } = await freshTracker(database)
        const own = () => process.listenerCount('unhandledRejection')
        const host = () => undefined
        expect(own()).toBe(0)
        process.on('unhandledRejection', host)
        expect(own()).toBe(2)
        process.once('unhandledRejection', host)
        process.off('unhandledRejection', host)
        expect(own()).toBe(2)
        process.removeAllListeners('unhandledRejection')
        expect(own()).toBe(0)
        process.on('unhandledRejection', host)
        await tracker.shutdown()
        expect(process.listeners('unhandledRejection')).toEqual([host])

        const late = await freshTracker(database)
        expect(own()).toBe(2)
        process.off('unhandledRejection', host)
        expect(own()).toBe(0)
        await late.tracker.shutdown()
      } finally {
        process.removeAllListeners('unhandledRejection')
        for (const listener of listened) process.on('unhandledRejection', listener)
      }
    })

    test('leave a host that has set up process.report alone', async () => {
      process.report.directory = '/srv/reports'
      try {
        const { tracker } = await freshTracker(database, { crash_capture_path: join(temporaryFolder(), 'crashes') })
        expect(process.report).toMatchObject({ directory: '/srv/reports', reportOnFatalError: false })
        await tracker.shutdown()
        expect(process.report.directory).toBe('/srv/reports')
      } finally {
        process.report.directory = ''
      }
    })
  },
  { except: ['postgres', 'mysql'] },
)

function surroundings() {
  const { directory, filename, reportOnFatalError } = process.report
  return {
    listeners: listeners(),
    report: { directory, filename, reportOnFatalError, network: Reflect.get(process.report, 'excludeNetwork') },
    channels: ['worker_threads', 'child_process'].map(hasSubscribers),
    board: getEnvironmentData('faultboard:ended_threads'),
  }
}

function listeners() {
  return Object.fromEntries(
    process
      .eventNames()
      .map((event) => [String(event), process.listenerCount(event)] as const)
      .sort(),
  )
}
