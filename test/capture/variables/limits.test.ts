import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, test } from 'vitest'
import type { FrameVariables } from '../../../src/model/stacks/frame-variables.js'
import type { Settings } from '../../../src/options.js'
import { describeEachRuntime } from '../../support/processes/runtimes.js'
import { answerOf, ROOMY, run, settingsFor } from './fixtures/hosts.js'

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
  const place = { root, ...(flags ? { flags } : {}), ...(runtime ? { runtime } : {}) }
  const all = settingsFor(root, { ...ROOMY, ...settings })
  return answerOf<T>(await run('limits.mjs', { task, rounds, settings: all }, place))
}

interface Burst {
  read: (number | null)[]
  late: number | null
  dropped: Record<string, number>
}

const numbersIn = ({ read }: { read: (number | null)[] }) => read.filter((number) => number !== null)

describe('the limits on reading variables', () => {
  test('let so many a second through, the first of them, and more in the next second', async () => {
    const answer = await runTask<Burst>({ task: 'burst', settings: { local_variable_max_per_second: 5 } })
    expect(numbersIn(answer)).toEqual([0, 1, 2, 3, 4])
    expect(answer.late).toBe(99)
    expect(answer.dropped).toMatchObject({ local_variables_rate_limit: 1 })
  })

  test('pause it by themselves when it takes too long', async () => {
    const answer = await runTask<Burst>({ task: 'burst', settings: { local_variable_max_pause_ms_per_second: 1 } })
    const read = numbersIn(answer)
    expect(read[0]).toBe(0)
    // Five milliseconds are for at most sixteen pauses, by what V8 alone takes for one.
    expect(read.length).toBeLessThanOrEqual(16)
    expect(answer.dropped.local_variables_time_limit).toBeGreaterThanOrEqual(1)
  })

  test('are each tracker’s own, and so is what it filters', async () => {
    expect(await runTask({ task: 'two_trackers' })).toMatchObject({
      mine: { number: 3, lines: [1, 2, 3] },
      others: { number: 3, lines: '[FILTERED]' },
      after: 4,
    })
  })

  test('end with the tracker', async () => {
    expect(await runTask({ task: 'stopped' })).toMatchObject({ read: 6, seen: null, after: null, again: 8 })
  })
})

describeEachRuntime('variables', (runtime) => {
  test('in the adaptive mode come with the second error of a kind, and then it rests', async () => {
    const settings: Settings = { local_variable_mode: 'adaptive' }
    expect(await runTask({ task: 'adaptive', settings, runtime })).toMatchObject({ read: [null, 2, null, null] })
  })

  test.each([
    { rounds: 2, read: 9 },
    { rounds: 3, read: null },
  ])('are no longer read in the adaptive mode after three repeats without them ($rounds repeats)', async (one) => {
    const settings: Settings = { local_variable_mode: 'adaptive' }
    const { rounds, read } = one
    expect(await runTask({ task: 'adaptive_unread', rounds, settings, runtime })).toMatchObject({ read })
  })

  test('of a function that was optimised are missing rather than wrong', async () => {
    const { failed, first, last } = await runTask<{ failed: number; first: FrameVariables[]; last: FrameVariables[] }>({
      ...{ task: 'hot', runtime },
    })
    expect(failed).toBe(300)
    const right = { number: 3, discount: 150, rate: 1.5, lines: [1.5, 3, 4.5] }
    expect(first[0]).toMatchObject({ function: 'charge', variables: right })
    for (const frame of last) {
      expect(Object.keys(frame.variables).length).toBeGreaterThan(0)
      if (frame.function !== 'charge') continue
      const known = Object.entries(frame.variables).filter(([, value]) => value !== '[undefined]')
      expect({ ...right, number: 7 }).toMatchObject(Object.fromEntries(known))
    }
  })

  test('leave nothing behind in memory, and no open file', async () => {
    const { states } = await runTask<{ states: { heap: number; files: number }[] }>({
      ...{ task: 'soak', rounds: 3, runtime },
      flags: ['--expose-gc'],
    })
    const [first, second, third] = states
    expect((third?.heap ?? 0) - (second?.heap ?? 0)).toBeLessThan(400_000)
    expect(third?.files).toBe(first?.files)
  }, 120_000)
})
