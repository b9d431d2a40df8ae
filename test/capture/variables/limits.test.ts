import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, test } from 'vitest'
import type { FrameVariables } from '../../../src/model/stacks/frame-variables.js'
import type { Settings } from '../../../src/options.js'
import { describeEachRuntime } from '../../support/processes/runtimes.js'
import { GENEROUS_LIMITS, parseOutput, run, settingsFor } from './fixtures/hosts.js'

const folders: string[] = []

afterAll(() => {
  for (const folder of folders) rmSync(folder, { recursive: true, force: true })
})

interface Task {
  task: string
  settings?: Settings
  rounds?: number
  flags?: string[]
  runtime?: Parameters<typeof run>[2]['runtime']
}

async function runTask<T>({ task, settings = {}, rounds, flags, runtime }: Task): Promise<T> {
  const root = mkdtempSync(join(tmpdir(), 'faultboard-limits-'))
  folders.push(root)
  const location = { root, ...(flags ? { flags } : {}), ...(runtime ? { runtime } : {}) }
  const allSettings = settingsFor(root, { ...GENEROUS_LIMITS, ...settings })
  return parseOutput<T>(await run('limits.mjs', { task, rounds, settings: allSettings }, location))
}

interface Burst {
  read: (number | null)[]
  late: number | null
  dropped: Record<string, number>
}

const readNumbers = ({ read }: { read: (number | null)[] }) => read.filter((number) => number !== null)

describe('limits on reading variables', () => {
  test('reads variables of at most local_variable_max_per_second errors per second', async () => {
    const output = await runTask<Burst>({ task: 'burst', settings: { local_variable_max_per_second: 5 } })
    expect(readNumbers(output)).toEqual([0, 1, 2, 3, 4])
    expect(output.late).toBe(99)
    expect(output.dropped).toMatchObject({ local_variables_rate_limit: 1 })
  })

  test('pauses when reading variables takes too long', async () => {
    const output = await runTask<Burst>({ task: 'burst', settings: { local_variable_max_pause_ms_per_second: 1 } })
    const read = readNumbers(output)
    expect(read[0]).toBe(0)
    // One pause takes V8 at least a third of a millisecond, and five milliseconds are allowed.
    expect(read.length).toBeLessThanOrEqual(16)
    expect(output.dropped.local_variables_time_limit).toBeGreaterThanOrEqual(1)
  })

  test('applies the limits and filters of each tracker separately', async () => {
    expect(await runTask({ task: 'two_trackers' })).toMatchObject({
      own: { number: 3, lines: [1, 2, 3] },
      other_tracker: { number: 3, lines: '[FILTERED]' },
      after: 4,
    })
  })

  test('stops reading variables when the tracker shuts down', async () => {
    expect(await runTask({ task: 'stopped' })).toMatchObject({ read: 6, seen: null, after: null, again: 8 })
  })
})

describeEachRuntime('variables', (runtime) => {
  test('reads variables of the second error of a kind in adaptive mode, and then stops', async () => {
    const settings: Settings = { local_variable_mode: 'adaptive' }
    expect(await runTask({ task: 'adaptive', settings, runtime })).toMatchObject({ read: [null, 2, null, null] })
  })

  test('omits variables of an optimized function instead of returning wrong values', async () => {
    const { failed, first, last } = await runTask<{ failed: number; first: FrameVariables[]; last: FrameVariables[] }>({
      ...{ task: 'hot', runtime },
    })
    expect(failed).toBe(100)
    const expected = { number: 3, discount: 150, rate: 1.5, lines: [1.5, 3, 4.5] }
    expect(first[0]).toMatchObject({ function: 'charge', variables: expected })
    for (const frame of last) {
      expect(Object.keys(frame.variables).length).toBeGreaterThan(0)
      if (frame.function !== 'charge') continue
      const values = Object.entries(frame.variables).filter(([, value]) => value !== '[undefined]')
      expect({ ...expected, number: 7 }).toMatchObject(Object.fromEntries(values))
    }
  })
})

describeEachRuntime(
  'variables of a long-running process',
  (runtime) => {
    test.each([
      { rounds: 2, read: 9 },
      { rounds: 3, read: null },
    ])('stops reading in adaptive mode after three repeats without variables ($rounds repeats)', async (options) => {
      const settings: Settings = { local_variable_mode: 'adaptive' }
      const { rounds, read } = options
      expect(await runTask({ task: 'adaptive_unread', rounds, settings, runtime })).toMatchObject({ read })
    })

    test('leaks neither memory nor files', async () => {
      const { states } = await runTask<{ states: { heap: number; files: number }[] }>({
        ...{ task: 'soak', rounds: 3, runtime },
        flags: ['--expose-gc'],
      })
      const [first, second, third] = states
      expect((third?.heap ?? 0) - (second?.heap ?? 0)).toBeLessThan(400_000)
      expect(third?.files).toBe(first?.files)
    }, 120_000)
  },
  { onlyNewest: true },
)
