import { describe, expect, onTestFinished, test } from 'vitest'
import type { HandleJob, JobEngine, NewJob, RunningJob } from '../../src/jobs/engine.js'
import { createEngine } from '../../src/jobs/engines.js'
import type { Timing } from '../../src/jobs/timing.js'
import type { Settings } from '../../src/options.js'
import { resolveConfiguration } from '../../src/options.js'
import { createDatabase } from '../../src/store/database.js'
import { startChild } from '../support/children.js'
import { startProxy } from '../support/proxy.js'
import { CREDENTIALS, eventually } from '../support/tracker.js'

/** An engine of nobody else. */
export interface EnginePlace {
  settings: Settings
  /** The same through another address, for a server that can be gone; null where the jobs are in a file. */
  server: { url: string; settings(url: string): Settings } | null
}

const QUICK: Timing = { leaseMs: 2000, pollMs: 50, graceMs: 5000, timeoutMs: 30_000, retryDelayMs: 20 }

/** What every engine has to do, on its real server. */
export function jobEngineContract(fresh: () => Promise<EnginePlace>): void {
  // It starts processes, which take their time on a machine that has other things to do.
  describe('keeps the contract of engines', { timeout: 90_000 }, () => contract(fresh))
}

function contract(fresh: () => Promise<EnginePlace>): void {
  test('does a job once, with its data', async () => {
    const { settings } = await fresh()
    const { engine, done } = working(settings)
    await engine.add([{ name: 'deliver', data: { number: 1, text: 'ü "…" \\u0000 \n', list: [1, { a: null }] } }])
    await eventually(() => done.length === 1, 'the job was done')
    expect(done[0]).toMatchObject({ name: 'deliver', attempt: 1 })
    expect(done[0]?.data).toEqual({ number: 1, text: 'ü "…" \\u0000 \n', list: [1, { a: null }] })
    await eventually(async () => isEmpty(await engine.counts()), 'nothing was left of it')
    await settle()
    expect(done).toHaveLength(1)
  })

  test('shares many jobs between workers and processes, each done by one of them', async () => {
    const { settings } = await fresh()
    const first = working(settings)
    const second = working(settings)
    const children = [1, 2].map(() =>
      startChild('../../jobs/fixtures/worker', { settings, timing: QUICK, stays: true }),
    )
    await eventually(() => children.every(({ lines }) => lines.includes('ready')), 'the processes work')
    const numbers = Array.from({ length: 200 }, (_, number) => number)
    for (const start of [0, 50, 100, 150]) await first.engine.add(numbers.slice(start, start + 50).map(numbered))
    const all = () => [
      ...[first, second].flatMap(({ done }) => done.map(({ data }) => Number(data.number))),
      ...children.flatMap(({ lines }) => lines.filter((line) => line !== 'ready').map((line) => Number(line.slice(4)))),
    ]
    await eventually(() => all().length >= numbers.length, 'all were done')
    await settle()
    expect(all().sort((a, b) => a - b)).toEqual(numbers)
  })

  test('lets another worker do what a killed process had begun', async () => {
    const { settings } = await fresh()
    const child = startChild('../../jobs/fixtures/worker', {
      settings,
      timing: QUICK,
      hold: true,
      stays: true,
      jobs: [numbered(7)],
    })
    await eventually(() => child.lines.includes('begun 7'), 'the process has begun')
    const { done } = working(settings)
    await settle()
    expect(done).toEqual([])
    child.process.kill('SIGKILL')
    await eventually(() => done.length === 1, 'the other did it')
    expect(done[0]?.data).toEqual({ number: 7 })
  })

  test('leaves a job that takes longer than its lease to the worker that has it', async () => {
    const { settings } = await fresh()
    let begun = 0
    const slow = async () => {
      begun++
      await new Promise((resume) => setTimeout(resume, 2.5 * QUICK.leaseMs))
    }
    const { engine } = working(settings, slow)
    working(settings, slow)
    await engine.add([numbered(1)])
    await eventually(async () => begun > 0 && isEmpty(await engine.counts()), 'it was done')
    expect(begun).toBe(1)
  })

  test('does a delayed job not before its time', async () => {
    const { settings } = await fresh()
    const ended: number[] = []
    const { engine } = working(settings, async () => void ended.push(Date.now()))
    const run_at = Date.now() + 1500
    await engine.add([{ ...numbered(1), run_at }])
    expect(await engine.counts()).toEqual({ waiting: 0, delayed: 1, active: 0, failed: 0 })
    await eventually(() => ended.length === 1, 'its time came')
    expect(ended[0]).toBeGreaterThanOrEqual(run_at)
  })

  test('tries again what fails, and counts the tries', async () => {
    const { settings } = await fresh()
    const attempts: number[] = []
    const { engine } = working(settings, async ({ attempt }) => {
      attempts.push(attempt)
      if (attempt < 3) throw new Error('not yet')
    })
    await engine.add([numbered(1)])
    await eventually(() => attempts.length === 3, 'the third try')
    await eventually(async () => isEmpty(await engine.counts()), 'nothing was left of it')
    expect(attempts).toEqual([1, 2, 3])
  })

  test('keeps what fails for good with its reason, the newest first', async () => {
    const { settings } = await fresh()
    const { engine, log } = working(settings, async ({ data }) => {
      throw new Error(`cannot reach https://user:secret@example.com/${data.number}`)
    })
    await engine.add([{ ...numbered(1), max_attempts: 2 }])
    await eventually(async () => (await engine.counts()).failed === 1, 'it failed for good')
    await engine.add([{ ...numbered(2), max_attempts: 1 }])
    await eventually(async () => (await engine.counts()).failed === 2, 'the other did too')
    const letters = await engine.deadLetters(10)
    expect(letters).toMatchObject([
      { name: 'deliver', data: { number: 2 }, attempts: 1, last_error: 'cannot reach https://user:***@example.com/2' },
      { name: 'deliver', data: { number: 1 }, attempts: 2 },
    ])
    expect(Math.abs(Date.now() - (letters[0]?.failed_at ?? 0))).toBeLessThan(120_000)
    expect(await engine.deadLetters(1)).toHaveLength(1)
    expect(log.join()).toContain('Job failed permanently (deliver)')
    expect(log.join()).not.toContain('secret')
  })

  test('takes one job under a key until that is done or has failed for good', async () => {
    const { settings } = await fresh()
    const done: unknown[] = []
    const gates: (() => void)[] = []
    const { engine } = working(settings, async ({ data }) => {
      done.push(data.number)
      await new Promise<void>((resume) => gates.push(resume))
      if (data.number === 3) throw new Error('for good')
    })
    const keyed = (number: number): NewJob => ({ ...numbered(number), key: 'delivery:5:1', max_attempts: 1 })
    await engine.add([keyed(1), { ...numbered(9), key: 'delivery:6:1', run_at: Date.now() + 600_000 }])
    await engine.add([keyed(2)])
    await eventually(() => gates.length === 1, 'the first is at work')
    await engine.add([keyed(2)])
    await settle()
    expect(done).toEqual([1])
    gates[0]?.()
    await eventually(async () => (await engine.counts()).active === 0, 'the first is done')
    await engine.add([keyed(3)])
    await eventually(() => gates.length === 2, 'the key was free again')
    gates[1]?.()
    await eventually(async () => (await engine.counts()).failed === 1, 'that failed for good')
    await engine.add([keyed(4)])
    await eventually(() => gates.length === 3, 'and the key was free once more')
    gates[2]?.()
    expect(done).toEqual([1, 3, 4])
  })

  test('stops when the job at work is done, and takes no other', async () => {
    const { settings } = await fresh()
    const ended: unknown[] = []
    const { engine } = opened(settings, { graceMs: 20_000 })
    let begun = 0
    engine.work(async ({ data }) => {
      begun++
      await new Promise((resume) => setTimeout(resume, 400))
      ended.push(data.number)
    })
    await engine.add([1, 2, 3, 4, 5, 6].map(numbered))
    await eventually(() => begun > 0, 'some are at work')
    await engine.stop()
    const finished = ended.length
    expect(finished).toBeGreaterThan(0)
    expect(finished).toBeLessThan(6)
    await settle()
    expect(ended).toHaveLength(finished)
    const { done } = working(settings)
    await eventually(() => done.length === 6 - finished, 'another did the rest')
  })

  test('gives back at once what it cannot finish, and tells it to break off', async () => {
    const { settings } = await fresh()
    const begun: RunningJob[] = []
    const stubborn = opened(settings, { graceMs: 50, leaseMs: 600_000 })
    stubborn.engine.work(async (job) => {
      begun.push(job)
      await new Promise((_, reject) => {
        if (job.data.number === 1) job.signal.addEventListener('abort', () => reject(new Error('broken off')))
      })
    })
    await stubborn.engine.add([{ ...numbered(1), max_attempts: 1 }, numbered(2)])
    await eventually(() => begun.length === 2, 'both are at work')
    await stubborn.engine.stop()
    expect(begun.map(({ signal }) => signal.aborted)).toEqual([true, true])
    const { done } = working(settings)
    await eventually(() => done.length === 2, 'another did them')
    expect(done.map(({ attempt }) => attempt)).toEqual([1, 1])
  })

  test('does what is due before it stops, when it is asked to, and nothing that is due later', async () => {
    const { settings } = await fresh()
    const ended: unknown[] = []
    const { engine } = opened(settings, { graceMs: 20_000, pollMs: 600_000 })
    engine.work(async ({ data }) => {
      await new Promise((resume) => setTimeout(resume, 20))
      ended.push(data.number)
    })
    const stranger = opened(settings)
    await stranger.engine.add([...[1, 2, 3, 4, 5, 6].map(numbered), { ...numbered(7), run_at: Date.now() + 600_000 }])
    await engine.drain()
    await engine.stop()
    expect(ended.sort()).toEqual([1, 2, 3, 4, 5, 6])
  })

  test('breaks off what is not done within the grace, however it was asked to stop', async () => {
    const { settings } = await fresh()
    const { engine } = opened(settings, { graceMs: 200 })
    const begun: RunningJob[] = []
    engine.work(async (job) => {
      begun.push(job)
      await new Promise(() => {})
    })
    await engine.add([numbered(1)])
    await eventually(() => begun.length === 1, 'it is at work')
    await engine.drain()
    expect(begun[0]?.signal.aborted).toBe(false)
    await engine.stop()
    expect(begun[0]?.signal.aborted).toBe(true)
  })

  test('leaves what it does not know to a newer release', async () => {
    const { settings } = await fresh()
    const { engine, done, log } = working(settings)
    await engine.add([{ name: 'of_tomorrow' as NewJob['name'], data: {}, max_attempts: 1 }])
    await eventually(async () => (await engine.counts()).delayed === 1, 'it was put off')
    expect(await engine.counts()).toEqual({ waiting: 0, delayed: 1, active: 0, failed: 0 })
    expect([done, log]).toEqual([[], []])
  })

  test('never keeps a process alive', async () => {
    const { settings } = await fresh()
    const child = startChild('../../jobs/fixtures/worker', { settings, timing: QUICK, jobs: [numbered(1)] })
    expect(await child.ended).toBe(0)
    expect(child.lines).toContain('ready')
    expect(child.errors).toEqual([])
  })

  test('says within bounds that its server is gone, and goes on when it is back', async ({ skip }) => {
    const { server } = await fresh()
    if (!server) return skip('its jobs are in a file')
    const proxy = await startProxy(server.url)
    const { engine, done, log } = working(server.settings(proxy.url), undefined, { timeoutMs: 2000 })
    await eventually(() => tried(engine.add([numbered(1)])), 'it takes jobs')
    await eventually(() => done.length > 0, 'and does them')
    await proxy.refuse()
    await expect(engine.add([numbered(2)])).rejects.toThrow()
    await expect(engine.counts()).rejects.toThrow()
    await eventually(() => log.length > 0, 'it complained')
    await settle()
    await proxy.open()
    await eventually(() => tried(engine.add([numbered(3)])), 'it takes jobs again')
    await eventually(() => done.some(({ data }) => data.number === 3), 'and does them')
    proxy.hang()
    await expect(engine.add([numbered(4)])).rejects.toThrow()
    await proxy.open()
    await eventually(() => tried(engine.add([numbered(5)])), 'it takes jobs once more')
    await eventually(() => done.some(({ data }) => data.number === 5), 'and does them')
    const complaints = log.filter((line) => line.includes('No jobs can be taken'))
    expect(complaints.length).toBeLessThanOrEqual(2)
  })
}

interface Opened {
  engine: JobEngine
  log: string[]
}

function opened(settings: Settings, timing: Partial<Timing> = {}): Opened {
  const log: string[] = []
  const { options: config } = resolveConfiguration(settings, {})
  const say = (sentence: string) => void log.push(sentence)
  const database = createDatabase(config.database, '.')
  const engine = createEngine({
    ...{ config, database, timing: { ...QUICK, ...timing } },
    ready: async () => {},
    log: { info: say, warn: say },
    now: Date.now,
    random: Math.random,
  })
  onTestFinished(async () => {
    await engine.stop()
    await database.close()
  })
  return { engine, log }
}

function working(
  settings: Settings,
  handle: HandleJob = async () => {},
  timing: Partial<Timing> = {},
): Opened & { done: RunningJob[] } {
  const done: RunningJob[] = []
  const one = opened(settings, { graceMs: 100, ...timing })
  one.engine.work(async (job) => {
    await handle(job)
    done.push(job)
  })
  return { ...one, done }
}

function numbered(number: number): NewJob {
  return { name: 'deliver', data: { number } }
}

function isEmpty(counts: object): boolean {
  return Object.values(counts).every((count) => count === 0)
}

/** Long enough for a job that should not be done to be done. */
function settle(): Promise<void> {
  return new Promise((resume) => setTimeout(resume, 300))
}

function tried(work: Promise<unknown>): Promise<boolean> {
  return work.then(
    () => true,
    () => false,
  )
}

/** What the settings of a test need beside what makes the engine. */
export function settingsOf(settings: Settings): Settings {
  return { ...CREDENTIALS, application_name: 'shop', ...settings }
}
