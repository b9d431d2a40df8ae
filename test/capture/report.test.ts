import { channel } from 'node:diagnostics_channel'
import { expect, test } from 'vitest'
import { describeOneDatabase } from '../support/databases.js'
import { freshTracker, type TestTracker } from '../support/tracker.js'

const reportChannel = channel('faultboard:report')

async function storedCounts({ tracker }: Pick<TestTracker, 'tracker'>): Promise<Record<string, number>> {
  await tracker.flush()
  const errors = await tracker.Queries.ErrorsList.call({ per_page: 100 })
  return Object.fromEntries(errors.map(({ message, occurrence_count }) => [message, occurrence_count]))
}

describeOneDatabase('Tracker.report', (database) => {
  test('records an error with its details and returns the record', async () => {
    const { tracker } = await freshTracker(database)
    const logged = await tracker.report(new Error('quietly handled'), {
      severity: 'critical',
      user_id: 7,
      tags: { region: 'eu' },
      context: { order_id: 12, password: 'hunter2' },
    })
    expect(logged).toMatchObject({ state: 'recorded', severity: 'critical', occurrence_count: 1 })
    expect(await tracker.Queries.FindError.call({ error_id: logged?.id ?? 0 })).toMatchObject({
      user_id: '7',
      tags: { region: 'eu' },
      context: { order_id: 12, password: '[FILTERED]' },
      details: { source: 'report' },
    })
  })

  test('grades an unhandled error like an uncaught one and marks it', async () => {
    const { tracker } = await freshTracker(database)
    expect(await tracker.report(new Error('handled'))).toMatchObject({ severity: 'low' })
    const escaped = await tracker.report(new Error('escaped'), { handled: false })
    expect(escaped).toMatchObject({ severity: 'high' })
    const { details } = await tracker.Queries.FindError.call({ error_id: escaped?.id ?? 0 })
    expect(details).toMatchObject({ unhandled: true })
  })

  test('records one error object once, however it is reported', async () => {
    const { tracker } = await freshTracker(database)
    const error = new Error('seen by many')
    expect(await tracker.report(error)).toMatchObject({ occurrence_count: 1 })
    expect(await tracker.report(error)).toBeNull()
    reportChannel.publish({ error })
    tracker.capture({}, error, () => ({ exception: error }))
    const logged = new Error('logged first')
    await tracker.Commands.LogError.call({ exception: logged })
    expect(await tracker.report(logged)).toBeNull()
    expect(await storedCounts({ tracker })).toEqual({ 'seen by many': 1, 'logged first': 1 })
  })

  test('records and counts nothing but LogError calls with enable_error_subscriber off', async () => {
    const { tracker } = await freshTracker(database, { enable_error_subscriber: false })
    expect(await tracker.report(new Error('not wanted'))).toBeNull()
    reportChannel.publish({ error: new Error('not wanted either') })
    await tracker.Commands.LogError.call({ exception: new Error('by name') })
    expect(await storedCounts({ tracker })).toEqual({ 'by name': 1 })
    expect((await tracker.stats()).dropped).toEqual({ error_subscriber_is_off: 1 })
  })
})

describeOneDatabase('channel faultboard:report', (database) => {
  test('records published errors until the tracker is shut down', async () => {
    const { tracker } = await freshTracker(database)
    reportChannel.publish({ error: new Error('of a library'), severity: 'medium', context: { job: 'nightly' } })
    reportChannel.publish(new Error('published bare'))
    reportChannel.publish({ error: 'a text', handled: false })
    expect(await storedCounts({ tracker })).toEqual({ 'of a library': 1, 'published bare': 1, 'a text': 1 })
    const [found] = await tracker.Queries.ErrorsList.call({ search: 'of a library' })
    expect(found?.severity).toBe('medium')
    expect(reportChannel.hasSubscribers).toBe(true)
    await tracker.shutdown()
    expect(reportChannel.hasSubscribers).toBe(false)
  })

  test.each([null, undefined, 7, 'text', new Proxy({}, { get: () => throwError() }), throwingMessage()])(
    'ignores an invalid published message: %#',
    async (message) => {
      const { tracker } = await freshTracker(database)
      expect(() => reportChannel.publish(message)).not.toThrow()
      expect(await tracker.report(new Error('still alive'))).toMatchObject({ occurrence_count: 1 })
    },
  )
})

test('never throws into the host if the tracker cannot start', async () => {
  const { TrackerInstance } = await import('../../src/tracker.js')
  const lines: string[] = []
  const unconfigured = new TrackerInstance({ sampling_rate: 2 }, { env: {}, write: (line) => lines.push(line) })
  expect(await unconfigured.report(new Error('lost'))).toBeNull()
  expect(unconfigured.withScope(() => 'ran')).toBe('ran')
  unconfigured.setContext({ a: 1 })
  unconfigured.setTags({ a: 1 })
  unconfigured.setUser(1)
  unconfigured.addBreadcrumb({ category: 'x', message: 'y' })
  expect(lines.join('')).toContain('sampling_rate must be')
})

function throwError(): never {
  throw new Error('touched')
}

function throwingMessage(): object {
  return Object.defineProperty({}, 'error', { get: throwError, enumerable: true })
}
