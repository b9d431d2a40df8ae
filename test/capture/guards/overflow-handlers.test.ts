import { fileURLToPath, pathToFileURL } from 'node:url'
import { expect, test } from 'vitest'
import { describeEachRuntime } from '../../support/processes/runtimes.js'
import { runAtStackEnd } from '../../support/processes/stack-end.js'

const OVERFLOW = 'Maximum call stack size exceeded'
const REGISTER = pathToFileURL(fileURLToPath(new URL('../../../dist/register.js', import.meta.url))).href

describeEachRuntime('a handler that overflows the stack', (runtime) => {
  test('is recorded once per request by every adapter and leaves the response alone', {
    timeout: 120_000,
  }, async () => {
    const { code, output, counts } = await runAtStackEnd(runtime, 'overflow-handlers.mjs', {})
    expect(output).toEqual({ node: 500, express: 500, fastify: 500, koa: 500, hono: 500, nest: 500 })
    expect(code).toBe(0)
    expect(counts).toEqual({ [OVERFLOW]: 6 })
  })

  test('is recorded once when every level of marked code reports and rethrows it', async () => {
    const { code, counts } = await runAtStackEnd(runtime, 'stack-end.mjs', {
      flags: ['--import', REGISTER],
      env: { FAULTBOARD_DETECT_SWALLOWED_EXCEPTIONS: 'true' },
      settings: { detect_swallowed_exceptions: true },
      pattern: 'same',
    })
    expect(code).toBe(0)
    expect(counts[OVERFLOW]).toBe(1)
  })

  test('returns the same from expression handlers while swallowed exceptions are counted', async () => {
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
