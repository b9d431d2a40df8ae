import { hasSubscribers } from 'node:diagnostics_channel'
import { join } from 'node:path'
import { getEnvironmentData } from 'node:worker_threads'
import { expect, test } from 'vitest'
import { describeEachDatabase } from '../../support/databases.js'
import { freshTracker, temporaryFolder } from '../../support/tracker.js'
import { filesIn } from '../fixtures/child-processes.js'

describeEachDatabase(
  'process hooks',
  (database) => {
    test('removes all hooks and restores the process settings on shutdown', async () => {
      const crash_capture_path = join(temporaryFolder(), 'crashes')
      const before = processState()
      const { tracker } = await freshTracker(database, { crash_capture_path, detect_unclean_shutdown: true })
      expect(processState()).not.toEqual(before)
      expect(filesIn(crash_capture_path)).toEqual([expect.stringMatching(/^running-/)])
      expect(process.report).toMatchObject({ directory: crash_capture_path, reportOnFatalError: true })
      await tracker.shutdown()
      expect(processState()).toEqual(before)
      expect(filesIn(crash_capture_path)).toEqual([])
    })

    test('installs one hook of each kind for any number of trackers', async () => {
      const trackers = await Promise.all([1, 2, 3].map(() => freshTracker(database)))
      const countsBefore = listenerCounts()
      const lastTracker = await freshTracker(database)
      expect(listenerCounts()).toEqual(countsBefore)
      for (const { tracker } of [...trackers, lastTracker]) await tracker.shutdown()
    })

    test('listens to rejections only if the host does', async () => {
      const previousListeners = process.listeners('unhandledRejection')
      for (const listener of previousListeners) process.off('unhandledRejection', listener)
      try {
        const { tracker } = await freshTracker(database)
        const listenerCount = () => process.listenerCount('unhandledRejection')
        const hostListener = () => undefined
        expect(listenerCount()).toBe(0)
        process.on('unhandledRejection', hostListener)
        expect(listenerCount()).toBe(2)
        process.once('unhandledRejection', hostListener)
        process.off('unhandledRejection', hostListener)
        expect(listenerCount()).toBe(2)
        process.removeAllListeners('unhandledRejection')
        expect(listenerCount()).toBe(0)
        process.on('unhandledRejection', hostListener)
        await tracker.shutdown()
        expect(process.listeners('unhandledRejection')).toEqual([hostListener])

        const lateTracker = await freshTracker(database)
        expect(listenerCount()).toBe(2)
        process.off('unhandledRejection', hostListener)
        expect(listenerCount()).toBe(0)
        await lateTracker.tracker.shutdown()
      } finally {
        process.removeAllListeners('unhandledRejection')
        for (const listener of previousListeners) process.on('unhandledRejection', listener)
      }
    })

    test('does not change process.report if the host has configured it', async () => {
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

function processState() {
  const { directory, filename, reportOnFatalError } = process.report
  return {
    listeners: listenerCounts(),
    report: { directory, filename, reportOnFatalError, network: Reflect.get(process.report, 'excludeNetwork') },
    channels: ['worker_threads', 'child_process'].map(hasSubscribers),
    board: getEnvironmentData('faultboard:ended_threads'),
  }
}

function listenerCounts() {
  return Object.fromEntries(
    process
      .eventNames()
      .map((event) => [String(event), process.listenerCount(event)] as const)
      .sort(),
  )
}
