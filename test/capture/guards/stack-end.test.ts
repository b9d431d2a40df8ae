import { expect, test } from 'vitest'
import type { Settings } from '../../../src/options.js'
import { describeEachRuntime, type Runtime } from '../../support/processes/runtimes.js'
import { runAtStackEnd } from '../../support/processes/stack-end.js'

interface OverflowInput {
  patterns: string[]
  warm?: number
  end?: string
  overrides?: Settings
}

/** Cold and optimized code differ in their need of stack, so each pattern runs first in cold and in warm processes. */
const WARM_UPS = [
  { warm: 0, patterns: ['another', 'same'] },
  { warm: 1, patterns: ['same', 'another'] },
  { warm: 30, patterns: ['another', 'same'], async_logging: true },
  { warm: 3000, patterns: ['same', 'another'] },
]

describeEachRuntime('reports near the stack limit', (runtime) => {
  for (const { warm, patterns, async_logging = false } of WARM_UPS) {
    const title = `after ${warm} reports with async_logging ${async_logging}`

    test(`records a new error at every level and the overflow itself once ${title}`, async () => {
      const { counts, output } = await overflow(runtime, { patterns, warm, overrides: { async_logging } })
      expect(Object.keys(output)).toEqual(patterns)
      expectEveryLevel(output.another, counts['at a level'])
      expect(counts.before ?? 0).toBe(warm)
      expect(counts['Maximum call stack size exceeded']).toBe(1)
    })
  }

  test('records a new error at every level if only ignored errors were reported before', async () => {
    const overrides = { async_logging: false, ignored_exceptions: ['TypeError'] }
    const { counts, output } = await overflow(runtime, { patterns: ['another'], warm: 3000, overrides })
    expectEveryLevel(output.another, counts['at a level'])
    expect(counts).not.toHaveProperty('before')
  })

  test('survives breadcrumbs and records a separate error at every level with LogError', async () => {
    const overrides = { enable_breadcrumbs: true }
    const { counts, output } = await overflow(runtime, { patterns: ['breadcrumb', 'log_error'], overrides })
    expect(output.breadcrumb).toMatchObject({
      levels: expect.toSatisfy((levels) => levels > 600),
      highest: expect.toSatisfy((highest) => highest < 40),
    })
    expectEveryLevel(output.log_error, counts['logged at a level'])
  })

  test('records the overflow once while local variables are read', async () => {
    const { counts } = await overflow(runtime, {
      patterns: ['once'],
      overrides: { enable_local_variables: true, local_variable_mode: 'always' },
    })
    expect(counts['Maximum call stack size exceeded']).toBe(1)
  })

  test('keeps reports and the exit code if the process exits at depth', async () => {
    const { counts, code } = await overflow(runtime, { patterns: ['same'], warm: 1, end: 'exit_at_depth' })
    expect(code).toBe(3)
    expect(counts['Maximum call stack size exceeded']).toBe(1)
  })

  test('records the report of a callback, but not the report caused by that report', async () => {
    const { counts, output } = await overflow(runtime, { patterns: ['callback'] })
    expect(counts).toEqual({ 'at the top': 1, 'from the callback': 2, 'at the end': 1 })
    expect(output.callback?.nested).toBe(4)
  })
})

describeEachRuntime(
  'reports near the stack limit of a process that ends',
  (runtime) => {
    test('keeps reports if the process exits before the next turn', async () => {
      const { counts, code } = await overflow(runtime, { patterns: ['same'], warm: 1, end: 'exit' })
      expect(code).toBe(3)
      expect(counts['Maximum call stack size exceeded']).toBe(1)
    })

    test('keeps reports if the overflow ends the process', async () => {
      const { counts, code } = await overflow(runtime, { patterns: ['same'], warm: 1, end: 'throw' })
      expect(code).toBe(1)
      expect(counts['Maximum call stack size exceeded']).toBe(1)
    })
  },
  { onlyNewest: true },
)

interface Output {
  levels: number
  thrown: number
  highest: number
  nested: number
  missed: number
}

/** Expects that only the last levels, which have no room to call any function, are missing. */
function expectEveryLevel(output: Output | undefined, count: number | undefined): void {
  const { levels = 0, thrown = 0, highest = Number.NaN, missed = 0 } = output ?? {}
  expect(levels).toBeGreaterThan(600)
  expect(highest).toBeLessThan(40)
  // Includes the report before the recursion.
  expect(count).toBe(levels - thrown - missed + 1)
}

async function overflow(runtime: Runtime, { overrides, ...input }: OverflowInput) {
  const settings = { enable_breadcrumbs: false, ...overrides }
  const result = await runAtStackEnd<Record<string, Output>>(runtime, 'stack-end.mjs', { settings, ...input })
  expect(result.signal).toBe(null)
  return result
}
