import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { expect, onTestFinished, test } from 'vitest'
import { describeEachRuntime } from '../../support/processes/runtimes.js'
import { type IntakeHost, intakeHost, ON_SQLITE } from './intake-host.js'

const PROGRAM = fileURLToPath(new URL('./hosts/node-sdk.mjs', import.meta.url))

describeEachRuntime('Unmodified @sentry/node', ({ path }) => {
  test('reports errors with only a DSN', async () => {
    const host = await intakeHost(ON_SQLITE)
    await runSdk(path, host.dsn)

    const refused = await host.find('the card was refused')
    expect(refused).toMatchObject({
      error_type: 'TypeError',
      platform: 'API',
      app_version: '2.4.0',
      user_id: '42',
      severity: 'high',
      ip_address: null,
      tags: { region: 'eu', tier: 3 },
      context: { cart: { items: 2, password: '[FILTERED]' } },
      environment: 'staging',
      details: { server_name: 'web-1', build: '118', source: 'sentry', project_id: '1' },
      causes: [{ error_type: 'SyntaxError', relation: 'cause' }],
    })
    expect(refused.place).toMatch(/node-sdk\.mjs:\d+ in charge$/)
    expect(refused.backtrace[0]).toMatch(/^at charge \(.*node-sdk\.mjs:\d+:\d+\)$/)
    expect(refused.causes[0]?.message).toContain('JSON')
    expect(refused.breadcrumbs).toMatchObject([{ category: 'cart', message: 'item added', metadata: { sku: 'A-1' } }])
    expect(refused.details.sdk).toMatch(/^sentry\.javascript\.node /)
    expect(refused.details.process).toBeUndefined()

    expect(await host.find('stock is low')).toMatchObject({ error_type: 'Message', severity: 'medium' })
    // Two messages, one fingerprint.
    expect((await host.find('a different message')).occurrence_count).toBe(2)
    expect((await host.find('both failed')).causes).toMatchObject([
      { error_type: 'RangeError', message: 'one', relation: 'aggregated' },
      { error_type: 'SyntaxError', message: 'two', relation: 'aggregated' },
    ])
    expect((await host.find('within a span')).details.trace_id).toMatch(/^[0-9a-f]{32}$/)
    expect((await host.find('a large event')).context.extra).toBeDefined()
    expect(await host.find('promise failed')).toMatchObject({ severity: 'high', details: { unhandled: true } })
    expect((await host.tracker.stats()).dropped).toMatchObject({ 'sentry_dropped: span': 1 })
  })
})

async function runSdk(node: string, dsn: IntakeHost['dsn']): Promise<void> {
  const child = spawn(node, [PROGRAM, dsn], { stdio: ['ignore', 'ignore', 'pipe'] })
  onTestFinished(() => void child.kill('SIGKILL'))
  let errors = ''
  child.stderr.on('data', (bytes) => {
    errors += bytes
  })
  const [code] = await once(child, 'close')
  if (code !== 0) throw new Error(`The SDK exited with ${code}:\n${errors}`)
}
