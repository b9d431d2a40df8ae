import { expect, test } from 'vitest'
import { describeEachRuntime } from '../../support/runtimes.js'
import { runAtStackEnd } from '../../support/stack-end.js'

const OVERFLOW = 'Maximum call stack size exceeded'

describeEachRuntime('a stack overflow with enable_local_variables', (runtime) => {
  test.each([
    { local_variable_mode: 'always', first: 'recursion' },
    { local_variable_mode: 'adaptive', first: 'recursion' },
    { local_variable_mode: 'adaptive', first: 'spread' },
  ] as const)(
    'turns the option off with one log line in mode $local_variable_mode after a $first',
    async ({ local_variable_mode, first }) => {
      const settings = { enable_local_variables: true, local_variable_mode }
      const { signal, output, stderr, counts } = await runAtStackEnd(runtime, 'overflow-variables.mjs', {
        settings,
        first,
      })
      expect(signal).toBe(null)
      expect(output).toEqual({ overflows: 4 })
      expect(counts[OVERFLOW]).toBe(4)
      expect(stderr.match(/Local variables are off until the next start: the stack overflowed/g)).toHaveLength(1)
    },
  )

  // Fails once Node.js fixes this: then docs/diagnostics.md and the safety above can be reconsidered.
  test('aborts a process that pauses at exceptions, without Faultboard', async () => {
    const { signal, stderr, output } = await runAtStackEnd(runtime, 'inspector-overflow.mjs', { settings: null })
    expect(output).toEqual({})
    expect(signal).not.toBe(null)
    expect(stderr).toMatch(/AllowJavascriptExecution|DisallowJavascriptExecutionScope/)
  })
})
