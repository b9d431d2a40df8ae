import { expect, test, vi } from 'vitest'
import type { ContractHosts } from './contract-host.js'
import type { AdapterHarness, Fault, Variant } from './harness.js'
import { reporting } from './host-routes.js'
import { type Outcome, withProcessHandler } from './visit.js'

const FAULTS: readonly Fault[] = [
  '/sync', '/async', '/awaited', '/middleware', '/passed', '/stream', '/string', '/null', '/undefined', '/timer',
  '/floating',
] // biome-ignore format: a word list reads best as lines of words

/** Captured by the process hooks, because an adapter receives only errors of framework handlers. */
const PROCESS_FAULTS: readonly Fault[] = ['/timer', '/floating']

const CONCURRENT_REQUESTS = 30

const MESSAGES: Partial<Record<Fault, RegExp>> = { '/null': /null/, '/undefined': /undefined/ }

const BROWSER = 'Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0'

/** Verifies that every fault is recorded once, with its request, and does not change the response. */
export function describeCapture(harness: AdapterHarness, { start, recording, bare }: ContractHosts): void {
  const {
    unsupportedVariants = {},
    undetectedFaults = {},
    route = '/orders/:id',
    user_id = '7',
    params = true,
  } = harness
  const isSeen = (fault: Fault) => !PROCESS_FAULTS.includes(fault) && undetectedFaults[fault] === undefined

  const severityFor = (status: Outcome['status']) => {
    // An error that only the process handles is unhandled.
    if (harness.onProcessError) return 'high'
    return Number(status) >= 500 ? 'medium' : 'low'
  }

  for (const variant of ['own_handler', 'default_handler', 'wrapped'] satisfies Variant[]) {
    if (!unsupportedVariants[variant])
      test.each(FAULTS)(
        `records %s once (${variant}) and does not change how the host responds, logs and handles it`,
        async (fault) => {
          const without = await (await bare(variant)).visit(fault)
          const { outcome, added } = await (await recording(variant)).visitAndRecord(fault)
          expect(outcome).toEqual(without)
          expect(added.map(({ occurrence_count }) => occurrence_count)).toEqual(isSeen(fault) ? [1] : [])
          if (isSeen(fault)) expect(added[0]?.message).toMatch(MESSAGES[fault] ?? /broken/)
          if (isSeen(fault) && ['/sync', '/awaited', '/passed', '/stream'].includes(fault))
            expect(added[0]?.severity).toBe(severityFor(outcome.status))
        },
      )
  }

  if (!unsupportedVariants.failing_handler)
    test('records an error of the error handler in addition to the original error', async () => {
      const without = await (await bare('failing_handler')).visit('/sync')
      const host = await start({}, 'failing_handler')
      const { logged, ...outcome } = await host.visit('/sync')
      expect({ ...outcome, logged: [...new Set(logged)] }).toEqual({ ...without, logged: [...new Set(without.logged)] })
      const recorded = await host.recorded()
      expect(recorded.map(({ message, occurrence_count }) => `${message} ${occurrence_count}`).sort()).toEqual([
        'broken 1',
        'the error handler failed 1',
      ])
    })

  for (const variant of ['own_handler', 'default_handler'] satisfies Variant[]) {
    if (!unsupportedVariants[variant])
      test(`counts a client error once without recording it (${variant})`, async () => {
        const without = await (await bare(variant)).visit('/missing')
        const host = await recording(variant)
        const { outcome, added } = await host.visitAndRecord('/missing')
        expect(outcome).toEqual(without)
        // An error that only the process handles has no client response.
        if (harness.onProcessError) return expect(added).toHaveLength(1)
        expect(added).toEqual([])
        expect((await host.tracker.stats()).dropped).toEqual({ client_error: 1 })
      })
  }

  test('records the request of an error without its secrets', async () => {
    const host = await recording()
    const path = '/orders/8?token=abc&page=2'
    const { added } = await host.visitAndRecord(path, {
      headers: { 'user-agent': BROWSER, cookie: 'session=abcdef' },
    })
    const recorded = await host.tracker.Queries.FindError.call({ error_id: added[0]?.id ?? 0 })
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

  test('records each of many concurrent failing requests exactly once', async () => {
    const host = await start()
    const faults = FAULTS.filter((fault) => ['/sync', '/awaited', '/passed'].includes(fault) && isSeen(fault))
    const log = vi.spyOn(console, 'error').mockImplementation(() => {})
    await withProcessHandler(harness.onProcessError ?? (() => {}), async () => {
      const visits = Array.from({ length: CONCURRENT_REQUESTS }, (_, i) =>
        host.get(faults[i % faults.length] ?? '/sync'),
      )
      for (const response of await Promise.all(visits)) await response.text()
    })
    log.mockRestore()
    const counts = (await host.recorded()).map(({ occurrence_count }) => occurrence_count)
    expect(counts.reduce((sum, count) => sum + count, 0)).toBe(CONCURRENT_REQUESTS)
  })

  test('records an error once if the host reports and rethrows it', async () => {
    const host = await start({ enable_error_subscriber: true, request_scope: 'always' })
    reporting.report = (error) => host.tracker.report(error)
    await host.visit('/reported')
    reporting.report = undefined
    expect(await host.recorded()).toMatchObject([{ message: 'broken', occurrence_count: 1 }])
  })

  test('records nothing and changes nothing with enable_middleware off', async () => {
    const without = await (await bare()).visit('/sync')
    const host = await start({ enable_middleware: false })
    expect(await host.visit('/sync')).toEqual(without)
    expect(await host.recorded()).toEqual([])
  })
}
