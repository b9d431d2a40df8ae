import { fileURLToPath, pathToFileURL } from 'node:url'
import { expect, test } from 'vitest'
import { describeEachRuntime } from '../../support/processes/runtimes.js'
import { runAtStackEnd } from '../../support/processes/stack-end.js'

const OVERFLOW = 'Maximum call stack size exceeded'
const REGISTER = pathToFileURL(fileURLToPath(new URL('../../../dist/register.js', import.meta.url))).href

describeEachRuntime('handlers that overflow the stack', (runtime) => {
  test('records an overflow once per request in every adapter without changing the response', {
    timeout: 120_000,
  }, async () => {
    const { code, output, counts } = await runAtStackEnd(runtime, 'overflow-handlers.mjs', {})
    expect(output).toEqual({ node: 500, express: 500, fastify: 500, koa: 500, hono: 500, nest: 500 })
    expect(code).toBe(0)
    expect(counts).toEqual({ [OVERFLOW]: 6 })
  })

  test('records an overflow once when every level of marked code reports and rethrows it', async () => {
    const { code, counts } = await runAtStackEnd(runtime, 'stack-end.mjs', {
      flags: ['--import', REGISTER],
      env: { FAULTBOARD_DETECT_SWALLOWED_EXCEPTIONS: 'true' },
      settings: { detect_swallowed_exceptions: true },
      patterns: ['same'],
    })
    expect(code).toBe(0)
    expect(counts[OVERFLOW]).toBe(1)
  })

  test('does not change the result of expression handlers that count swallowed exceptions', async () => {
    const { code, output, counts } = await runAtStackEnd(runtime, 'marked-overflow.mjs', {
      flags: ['--import', REGISTER],
      env: { FAULTBOARD_DETECT_SWALLOWED_EXCEPTIONS: 'true' },
      settings: { detect_swallowed_exceptions: true },
    })
    expect(output).toEqual({ messages: ['rejected'], direct: OVERFLOW, isMarked: 'function' })
    expect(code).toBe(0)
    expect(counts[OVERFLOW]).toBe(1)
  })
})
