import { expect, test } from 'vitest'
import type { Settings } from '../../../src/options.js'
import { describeEachRuntime, type Runtime } from '../../support/processes/runtimes.js'
import { runAtStackEnd } from '../../support/processes/stack-end.js'

interface OverflowInput {
  pattern: string
  warm?: number
  end?: string
  overrides?: Settings
}

describeEachRuntime('reports near the stack limit', (runtime) => {
  for (const { warm, async_logging } of [
    { warm: 0, async_logging: false },
    { warm: 1, async_logging: false },
    { warm: 30, async_logging: true },
    { warm: 3000, async_logging: false },
  ]) {
    const title = `after ${warm} reports with async_logging ${async_logging}`

    test(`records a new error at every level ${title}`, async () => {
      const { counts, output } = await overflow(runtime, { pattern: 'another', warm, overrides: { async_logging } })
      // The last levels have no room to call any function.
      expect(output.highest).toBeLessThan(40)
      // Includes the report before the recursion.
      expect(counts['at a level']).toBe(output.levels - output.thrown - output.missed + 1)
      expect(counts.before ?? 0).toBe(warm)
    })

    test(`records the overflow itself once ${title}`, async () => {
      const { counts } = await overflow(runtime, { pattern: 'same', warm, overrides: { async_logging } })
      expect(counts['Maximum call stack size exceeded']).toBe(1)
    })
  }

  test('records a new error at every level if only ignored errors were reported before', async () => {
    const overrides = { async_logging: false, ignored_exceptions: ['TypeError'] }
    const { counts, output } = await overflow(runtime, { pattern: 'another', warm: 3000, overrides })
    expect(output.highest).toBeLessThan(40)
    expect(counts).toMatchObject({ 'at a level': output.levels - output.thrown - output.missed + 1 })
    expect(counts).not.toHaveProperty('before')
  })

  test('records a separate error at every level with LogError', async () => {
    const { counts, output } = await overflow(runtime, { pattern: 'log_error', warm: 1 })
    expect(output.highest).toBeLessThan(40)
    expect(counts['at a level']).toBe(output.levels - output.thrown - output.missed + 1)
  })

  test('survives breadcrumbs at every level', async () => {
    const { output } = await overflow(runtime, { pattern: 'breadcrumb', overrides: { enable_breadcrumbs: true } })
    expect(output.highest).toBeLessThan(40)
  })

  test('records the overflow once while local variables are read', async () => {
    const { counts } = await overflow(runtime, {
      pattern: 'once',
      overrides: { enable_local_variables: true, local_variable_mode: 'always' },
    })
    expect(counts['Maximum call stack size exceeded']).toBe(1)
  })

  test('keeps reports if the process exits before the next turn', async () => {
    const { counts, code } = await overflow(runtime, { pattern: 'same', warm: 1, end: 'exit' })
    expect(code).toBe(3)
    expect(counts['Maximum call stack size exceeded']).toBe(1)
  })

  test('keeps reports if the overflow ends the process', async () => {
    const { counts, code } = await overflow(runtime, { pattern: 'same', warm: 1, end: 'throw' })
    expect(code).toBe(1)
    expect(counts['Maximum call stack size exceeded']).toBe(1)
  })

  test('does not change the exit code if the process exits at depth', async () => {
    const { code } = await overflow(runtime, { pattern: 'same', warm: 1, end: 'exit_at_depth' })
    expect(code).toBe(3)
  })

  test('records the report of a callback, but not the report caused by that report', async () => {
    const { counts, output } = await overflow(runtime, { pattern: 'callback' })
    expect(counts).toEqual({ 'at the top': 1, 'from the callback': 2, 'at the end': 1 })
    expect(output.nested).toBe(4)
  })
})

interface Output {
  levels: number
  thrown: number
  highest: number
  nested: number
  missed: number
}

async function overflow(runtime: Runtime, { overrides, ...input }: OverflowInput) {
  const settings = { enable_breadcrumbs: false, ...overrides }
  const result = await runAtStackEnd<Output>(runtime, 'stack-end.mjs', { settings, ...input })
  expect(result.signal).toBe(null)
  return result
}
