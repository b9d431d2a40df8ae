import { expect, test, vi } from 'vitest'
import type { ContractHosts } from './contract-host.js'
import type { AdapterHarness, Fault, Variant } from './harness.js'
import { reporting } from './host-routes.js'
import { insteadOfVitest, type Outcome } from './visit.js'

const FAULTS: readonly Fault[] = [
  '/sync', '/async', '/awaited', '/middleware', '/passed', '/stream', '/string', '/null', '/undefined', '/timer',
  '/floating',
] // biome-ignore format: a word list reads best as lines of words

/** Theirs are the process hooks; an adapter sees the handlers of the framework. */
const OF_THE_PROCESS: readonly Fault[] = ['/timer', '/floating']

const MESSAGES: Partial<Record<Fault, RegExp>> = { '/null': /null/, '/undefined': /undefined/ }

const BROWSER = 'Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0'

/** That every fault is recorded once, with its request, and answered as it would have been without Faultboard. */
export function describeCapture(harness: AdapterHarness, { start, bare }: ContractHosts): void {
  const { lacks = {}, unseen = {}, route = '/orders/:id', user_id = '7', params = true } = harness
  const isSeen = (fault: Fault) => !OF_THE_PROCESS.includes(fault) && unseen[fault] === undefined

  const severityFor = (status: Outcome['status']) => {
    // Where only the process handles an error, it is unhandled.
    if (harness.onProcessError) return 'high'
    return Number(status) >= 500 ? 'medium' : 'low'
  }

  for (const variant of ['own_handler', 'default_handler', 'wrapped'] satisfies Variant[]) {
    if (!lacks[variant])
      test.each(FAULTS)(
        `%s (${variant}) is answered, logged and passed on as without Faultboard, and recorded once`,
        async (fault) => {
          const without = await (await bare(variant)).visit(fault)
          const host = await start({}, variant)
          expect(await host.visit(fault)).toEqual(without)
          const recorded = await host.recorded()
          expect(recorded.map(({ occurrence_count }) => occurrence_count)).toEqual(isSeen(fault) ? [1] : [])
          if (isSeen(fault)) expect(recorded[0]?.message).toMatch(MESSAGES[fault] ?? /broken/)
        },
      )
  }

  if (!lacks.failing_handler)
    test('an error of the error handler itself is recorded beside the first', async () => {
      const without = await (await bare('failing_handler')).visit('/sync')
      const host = await start({}, 'failing_handler')
      const { logged, ...answer } = await host.visit('/sync')
      expect({ ...answer, logged: [...new Set(logged)] }).toEqual({ ...without, logged: [...new Set(without.logged)] })
      const recorded = await host.recorded()
      expect(recorded.map(({ message, occurrence_count }) => `${message} ${occurrence_count}`).sort()).toEqual([
        'broken 1',
        'the handler is broken 1',
      ])
    })

  for (const variant of ['own_handler', 'default_handler'] satisfies Variant[]) {
    if (!lacks[variant])
      test(`an error that is meant for the client is counted once, not recorded (${variant})`, async () => {
        const without = await (await bare(variant)).visit('/missing')
        const host = await start({}, variant)
        expect(await host.visit('/missing')).toEqual(without)
        // Where nobody but the process handles it, it was no answer to a client.
        if (harness.onProcessError) return expect(await host.recorded()).toHaveLength(1)
        expect(await host.recorded()).toEqual([])
        expect((await host.tracker.stats()).dropped).toEqual({ client_error: 1 })
      })
  }

  test.each(['/sync', '/awaited', '/passed', '/stream'] satisfies Fault[])(
    'the plain error of %s is medium where it makes the request fail with a 5xx response, and low otherwise',
    async (fault) => {
      const host = await start()
      const { status } = await host.visit(fault)
      const [recorded] = await host.recorded()
      if (isSeen(fault))
        expect({ status, severity: recorded?.severity }).toEqual({ status, severity: severityFor(status) })
      else expect(recorded).toBeUndefined()
    },
  )

  test('what the request was is recorded with the error, without its secrets', async () => {
    const host = await start()
    const path = '/orders/8?token=abc&page=2'
    await host.visit(path, { headers: { 'user-agent': BROWSER, cookie: 'session=abcdef' } })
    const [recorded] = await host.recorded()
    expect(recorded).toMatchObject({
      error_type: 'Error',
      message: 'broken',
      occurrence_count: 1,
      platform: 'Web',
      user_agent: BROWSER,
      user_id,
      ip_address: expect.stringContaining('127.0.0.1'),
      request_url: `${host.origin}/orders/8?token=[FILTERED]&page=2`,
    })
    if (route !== null) expect(recorded?.request_params).toMatchObject({ query: { token: '[FILTERED]', page: '2' } })
    if (params) expect(recorded?.request_params).toMatchObject({ params: { id: '8' } })
    const [occurrence] = recorded?.occurrences ?? []
    expect(occurrence?.request).toMatchObject({
      method: 'GET',
      duration_ms: expect.any(Number),
      ...(route && { route }),
    })
    expect(JSON.stringify(recorded)).not.toMatch(/abcdef|=abc/)
  })

  test('of many requests that fail at once, each is recorded exactly once', async () => {
    const host = await start()
    const faults = FAULTS.filter((fault) => ['/sync', '/awaited', '/passed'].includes(fault) && isSeen(fault))
    const log = vi.spyOn(console, 'error').mockImplementation(() => {})
    await insteadOfVitest(harness.onProcessError ?? (() => {}), async () => {
      const visits = Array.from({ length: 200 }, (_, i) => host.get(faults[i % faults.length] ?? '/sync'))
      for (const response of await Promise.all(visits)) await response.text()
    })
    log.mockRestore()
    const counts = (await host.recorded()).map(({ occurrence_count }) => occurrence_count)
    expect(counts.reduce((sum, count) => sum + count, 0)).toBe(200)
  })

  test('an error that the host has reported by hand before it was thrown on is recorded once', async () => {
    const host = await start({ enable_error_subscriber: true, request_scope: 'always' })
    reporting.report = (error) => host.tracker.report(error)
    await host.visit('/reported')
    reporting.report = undefined
    expect(await host.recorded()).toMatchObject([{ message: 'broken', occurrence_count: 1 }])
  })

  test('enable_middleware false records nothing and changes nothing', async () => {
    const without = await (await bare()).visit('/sync')
    const host = await start({ enable_middleware: false })
    expect(await host.visit('/sync')).toEqual(without)
    expect(await host.recorded()).toEqual([])
  })
}
