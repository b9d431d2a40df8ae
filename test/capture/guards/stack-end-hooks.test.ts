import { expect, test } from 'vitest'
import { describeEachRuntime } from '../../support/processes/runtimes.js'
import { runAtStackEnd } from '../../support/processes/stack-end.js'

const PROGRAM = 'stack-end-hooks.mjs'
const OVERFLOW = 'Maximum call stack size exceeded'

/** Hooks that record an error object once, however often they receive it. */
const RECORDING_HOOKS = ['report', 'report_channel', 'express', 'fastify']

/** Hooks that exist only with Faultboard. */
const OWN_HOOKS = [
  ...RECORDING_HOOKS,
  'breadcrumb',
  'request_guard',
  'set_context',
  'set_tags',
  'set_user',
  'with_scope',
  'breadcrumb_channel',
  'guard_channel',
]

/** Calls of the host that Faultboard records. */
const OBSERVED_RECORDING_HOOKS = ['rejection', 'monitor', 'pino']

/** Calls of the host that Faultboard observes. They also throw near the stack limit without Faultboard. */
const OBSERVED_HOOKS = [...OBSERVED_RECORDING_HOOKS, 'winston', 'console', 'http', 'fetch', 'warning']

/**
 * Levels of about 140 bytes that a call may need beyond an empty function or the same call without Faultboard.
 * Optimized code reserves the frames of inlined functions on entry.
 */
const MAX_EXTRA_LEVELS = 24

/** Eight overflows with Faultboard and eight without. */
const SLOW_TEST = { timeout: 120_000 }

type Output = Record<string, { levels: number; thrown: number; plain_thrown: number }>

describeEachRuntime('hooks at every level of an overflow', (runtime) => {
  test('throws only where an empty function throws, and records the overflow once', async () => {
    const { code, output, counts } = await runAtStackEnd<Output>(runtime, PROGRAM, { hooks: OWN_HOOKS })
    expect(code).toBe(0)
    expect(Object.keys(output)).toEqual(OWN_HOOKS)
    // V8 inlines the empty function after a while, and then it throws nowhere.
    const maxThrown = Math.max(...Object.values(output).map(({ plain_thrown }) => plain_thrown)) + MAX_EXTRA_LEVELS
    expect(Object.entries(output).filter(([, { thrown }]) => thrown > maxThrown)).toEqual([])
    // One error object per hook.
    expect(counts[OVERFLOW]).toBe(RECORDING_HOOKS.length)
  })

  test('records every LogError call except on the last levels', async () => {
    const { code, output, counts } = await runAtStackEnd<Output>(runtime, PROGRAM, { hooks: ['log_error'] })
    const { levels = 0, thrown = 0, plain_thrown = 0 } = output.log_error ?? {}
    expect(code).toBe(0)
    expect(thrown).toBeLessThanOrEqual(plain_thrown + MAX_EXTRA_LEVELS)
    expect(levels).toBeGreaterThan(600)
    expect(levels - (counts[OVERFLOW] ?? 0)).toBeLessThanOrEqual(plain_thrown + MAX_EXTRA_LEVELS)
  })

  test('lets observed calls throw only where they throw without Faultboard', SLOW_TEST, async () => {
    const untracked = await runAtStackEnd<Output>(runtime, PROGRAM, { hooks: OBSERVED_HOOKS, settings: null })
    const { code, output, counts } = await runAtStackEnd<Output>(runtime, PROGRAM, { hooks: OBSERVED_HOOKS })
    expect([code, untracked.code]).toEqual([0, 0])
    expect(Object.keys(output)).toEqual(OBSERVED_HOOKS)
    const throwing = Object.entries(output).filter(
      ([hook, { thrown }]) => thrown > (untracked.output[hook]?.thrown ?? 0) + MAX_EXTRA_LEVELS,
    )
    expect(throwing).toEqual([])
    expect(counts[OVERFLOW]).toBe(OBSERVED_RECORDING_HOOKS.length)
  })
})
