import { expect, test } from 'vitest'
import type { Settings } from '../../../src/options.js'
import { describeEachRuntime, type Runtime } from '../../support/processes/runtimes.js'
import { runAtStackEnd } from '../../support/processes/stack-end.js'

const OVERFLOW = 'Maximum call stack size exceeded'

interface OverflowInput {
  kinds: string[]
  mode?: Settings['local_variable_mode']
  after_another_error?: boolean
}

describeEachRuntime('stack overflow with enable_local_variables', (runtime) => {
  test.each(['recursion', 'rethrow', 'large_frames'])(
    'survives and records once in the default mode after a %s',
    async (kind) => {
      await expectSurvived(runtime, { kinds: [kind] })
    },
  )

  // Only the first overflow happens while variables are read, so each kind is first in one test.
  test('survives repeated overflows of every kind in the default mode', async () => {
    await expectSurvived(runtime, {
      kinds: ['spread', 'large_frames', 'rethrow', 'recursion', 'spread', 'large_frames'],
    })
  })

  test('ends the session that waits for another error', async () => {
    await expectSurvived(runtime, { kinds: ['recursion', 'spread', 'large_frames'], after_another_error: true })
  })

  test('ends the session in always mode', async () => {
    await expectSurvived(runtime, { kinds: ['recursion', 'spread', 'large_frames'], mode: 'always' })
  })

  // Fails once Node.js fixes this. Then docs/diagnostics.md and the protection above can be reconsidered.
  test('a process that pauses at exceptions is aborted even without Faultboard', async () => {
    const { signal, stderr, output } = await runAtStackEnd(runtime, 'inspector-overflow.mjs', { settings: null })
    expect(output).toEqual({})
    expect(signal).not.toBe(null)
    expect(stderr).toMatch(/AllowJavascriptExecution|DisallowJavascriptExecutionScope/)
  })
})

async function expectSurvived(
  runtime: Runtime,
  { mode, kinds, after_another_error = false }: OverflowInput,
): Promise<void> {
  const settings: Settings = { enable_local_variables: true, ...(mode && { local_variable_mode: mode }) }
  const { code, signal, output, stderr, counts } = await runAtStackEnd(runtime, 'overflow-variables.mjs', {
    settings,
    kinds,
    after_another_error,
  })
  expect({ code, signal }, stderr).toEqual({ code: 0, signal: null })
  expect(output).toEqual({ overflows: kinds.length })
  expect(counts).toEqual({ [OVERFLOW]: kinds.length, ...(after_another_error && { 'another error': 1 }) })
  expect(stderr.match(/Local variables are off until the next start: the stack overflowed/g)).toHaveLength(1)
}
