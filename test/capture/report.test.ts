import { channel } from 'node:diagnostics_channel'
import { expect, test } from 'vitest'
import { describeOneDatabase } from '../support/databases.js'
import { freshTracker, type TestTracker } from '../support/tracker.js'

const channelOfReports = channel('faultboard:report')

async function counts({ tracker }: Pick<TestTracker, 'tracker'>): Promise<Record<string, number>> {
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

  test('what was not handled is graded as what escaped, and says so', async () => {
    const { tracker } = await freshTracker(database)
    expect(await tracker.report(new Error('handled'))).toMatchObject({ severity: 'low' })
    const escaped = await tracker.report(new Error('escaped'), { handled: false })
    expect(escaped).toMatchObject({ severity: 'high' })
    const { details } = await tracker.Queries.FindError.call({ error_id: escaped?.id ?? 0 })
    expect(details).toMatchObject({ unhandled: true })
  })

  test('one error object is recorded once, whoever reports it and however often', async () => {
    const { tracker } = await freshTracker(database)
    const error = new Error('seen by many')
    expect(await tracker.report(error)).toMatchObject({ occurrence_count: 1 })
    expect(await tracker.report(error)).toBeNull()
    channelOfReports.publish({ error })
    tracker.capture({}, error, () => ({ exception: error }))
    const logged = new Error('logged first')
    await tracker.Commands.LogError.call({ exception: logged })
    expect(await tracker.report(logged)).toBeNull()
    expect(await counts({ tracker })).toEqual({ 'seen by many': 1, 'logged first': 1 })
  })

  test('enable_error_subscriber off records nothing that is reported, and counts it', async () => {
    const { tracker } = await freshTracker(database, { enable_error_subscriber: false })
    expect(await tracker.report(new Error('not wanted'))).toBeNull()
    channelOfReports.publish({ error: new Error('not wanted either') })
    await tracker.Commands.LogError.call({ exception: new Error('by name') })
    expect(await counts({ tracker })).toEqual({ 'by name': 1 })
    expect((await tracker.stats()).dropped).toEqual({ error_subscriber_is_off: 1 })
  })
})

describeOneDatabase('the channel faultboard:report', (database) => {
  test('records what a library publishes there, until the tracker is shut down', async () => {
    const { tracker } = await freshTracker(database)
    channelOfReports.publish({ error: new Error('of a library'), severity: 'medium', context: { job: 'nightly' } })
    channelOfReports.publish(new Error('published bare'))
    channelOfReports.publish({ error: 'a text', handled: false })
    expect(await counts({ tracker })).toEqual({ 'of a library': 1, 'published bare': 1, 'a text': 1 })
    const [found] = await tracker.Queries.ErrorsList.call({ search: 'of a library' })
    expect(found?.severity).toBe('medium')
    expect(channelOfReports.hasSubscribers).toBe(true)
    await tracker.shutdown()
    expect(channelOfReports.hasSubscribers).toBe(false)
  })

  test.each([null, undefined, 7, 'text', new Proxy({}, { get: () => never() }), hostileGetter()])(
    'is not hurt by what is published there: %#',
    async (message) => {
      const { tracker } = await freshTracker(database)
      expect(() => channelOfReports.publish(message)).not.toThrow()
      expect(await tracker.report(new Error('still alive'))).toMatchObject({ occurrence_count: 1 })
    },
  )
})

test('a tracker that cannot start, or was shut down, never throws into the host', async () => {
  const { TrackerInstance } = await import('../../src/tracker.js')
  const lines: string[] = []
  const broken = new TrackerInstance({}, { env: {}, write: (line) => lines.push(line) })
  expect(await broken.report(new Error('lost'))).toBeNull()
  expect(broken.withScope(() => 'ran')).toBe('ran')
  broken.setContext({ a: 1 })
  broken.setTags({ a: 1 })
  broken.setUser(1)
  broken.addBreadcrumb({ category: 'x', message: 'y' })
  expect(lines.join('')).toContain('dashboard_username is missing')
})

function never(): never {
  throw new Error('touched')
}

function hostileGetter(): object {
  return Object.defineProperty({}, 'error', { get: never, enumerable: true })
}
