import { describe, expect, onTestFinished, test } from 'vitest'
import type { HandleJob, JobEngine, NewJob, RunningJob } from '../../src/jobs/engine.js'
import { createEngine } from '../../src/jobs/engines.js'
import type { Timing } from '../../src/jobs/timing.js'
import type { Settings } from '../../src/options.js'
import { resolveConfiguration } from '../../src/options.js'
import { createDatabase } from '../../src/store/database.js'
import { startProxy } from '../support/databases/proxy.js'
import { startChild } from '../support/processes/children.js'
import { CREDENTIALS, eventually } from '../support/tracker.js'

/** Settings of an engine that no other test uses. */
export interface EngineSetup {
  settings: Settings
  /** Server behind a replaceable URL, to simulate an outage. Null if the jobs are stored in a file. */
  server: { url: string; settings(url: string): Settings } | null
}

const QUICK: Timing = { leaseMs: 2000, pollMs: 50, graceMs: 5000, timeoutMs: 30_000, retryDelayMs: 20 }

/** Behavior of every job engine, tested against its real server. */
export function jobEngineContract(createSetup: () => Promise<EngineSetup>): void {
  // Starting processes is slow on a busy machine.
  describe('job engine contract', { timeout: 90_000 }, () => contract(createSetup))
}

function contract(createSetup: () => Promise<EngineSetup>): void {
  test('runs a job once with its data', async () => {
    const { settings } = await createSetup()
    const { engine, done } = openWorker(settings)
    await engine.add([{ name: 'record', data: { number: 1, text: 'ü "…" \\u0000 \n', list: [1, { a: null }] } }])
    await eventually(() => done.length === 1, 'the job is done')
    expect(done[0]).toMatchObject({ name: 'record', attempt: 1 })
    expect(done[0]?.data).toEqual({ number: 1, text: 'ü "…" \\u0000 \n', list: [1, { a: null }] })
    await eventually(async () => isEmpty(await engine.counts()), 'the queue is empty')
    await settle()
    expect(done).toHaveLength(1)
  })

  test('runs each job in exactly one worker or process', async () => {
    const { settings } = await createSetup()
    const first = openWorker(settings)
    const second = openWorker(settings)
    const children = [1, 2].map(() =>
      startChild('../../jobs/fixtures/worker', { settings, timing: QUICK, stays: true }),
    )
    await eventually(() => children.every(({ lines }) => lines.includes('ready')), 'the processes are ready')
    const numbers = Array.from({ length: 200 }, (_, number) => number)
    for (const start of [0, 50, 100, 150]) await first.engine.add(numbers.slice(start, start + 50).map(numberedJob))
    const all = () => [
      ...[first, second].flatMap(({ done }) => done.map(({ data }) => Number(data.number))),
      ...children.flatMap(({ lines }) => lines.filter((line) => line !== 'ready').map((line) => Number(line.slice(4)))),
    ]
    await eventually(() => all().length >= numbers.length, 'all jobs are done')
    await settle()
    expect(all().sort((a, b) => a - b)).toEqual(numbers)
  })

  test('runs the job of a killed process in another worker', async () => {
    const { settings } = await createSetup()
    const child = startChild('../../jobs/fixtures/worker', {
      settings,
      timing: QUICK,
      hold: true,
      stays: true,
      jobs: [numberedJob(7)],
    })
    await eventually(() => child.lines.includes('begun 7'), 'the process has started the job')
    const { done } = openWorker(settings)
    await settle()
    expect(done).toEqual([])
    child.process.kill('SIGKILL')
    await eventually(() => done.length === 1, 'the other worker has run the job')
    expect(done[0]?.data).toEqual({ number: 7 })
  })

  test('renews the lease of a long job, so that no other worker runs it', async () => {
    const { settings } = await createSetup()
    let startCount = 0
    const slow = async () => {
      startCount++
      await new Promise((resume) => setTimeout(resume, 2.5 * QUICK.leaseMs))
    }
    const { engine } = openWorker(settings, slow)
    openWorker(settings, slow)
    await engine.add([numberedJob(1)])
    await eventually(async () => startCount > 0 && isEmpty(await engine.counts()), 'the job is done')
    expect(startCount).toBe(1)
  })

  test('does not run a delayed job early', async () => {
    const { settings } = await createSetup()
    const finishTimes: number[] = []
    const { engine } = openWorker(settings, async () => void finishTimes.push(Date.now()))
    const run_at = Date.now() + 1500
    await engine.add([{ ...numberedJob(1), run_at }])
    expect(await engine.counts()).toEqual({ waiting: 0, delayed: 1, active: 0, failed: 0 })
    await eventually(() => finishTimes.length === 1, 'the delayed job has run')
    expect(finishTimes[0]).toBeGreaterThanOrEqual(run_at)
  })

  test('retries failed jobs and counts the attempts', async () => {
    const { settings } = await createSetup()
    const attempts: number[] = []
    const { engine } = openWorker(settings, async ({ attempt }) => {
      attempts.push(attempt)
      if (attempt < 3) throw new Error('not yet')
    })
    await engine.add([numberedJob(1)])
    await eventually(() => attempts.length === 3, 'the third attempt has run')
    await eventually(async () => isEmpty(await engine.counts()), 'the queue is empty')
    expect(attempts).toEqual([1, 2, 3])
  })

  test('keeps permanently failed jobs with the reason, newest first', async () => {
    const { settings } = await createSetup()
    const { engine, log } = openWorker(settings, async ({ data }) => {
      throw new Error(`cannot reach https://user:secret@example.com/${data.number}`)
    })
    await engine.add([{ ...numberedJob(1), max_attempts: 2 }])
    await eventually(async () => (await engine.counts()).failed === 1, 'the first job has permanently failed')
    await engine.add([{ ...numberedJob(2), max_attempts: 1 }])
    await eventually(async () => (await engine.counts()).failed === 2, 'the second job has permanently failed')
    const letters = await engine.deadLetters(10)
    expect(letters).toMatchObject([
      { name: 'record', data: { number: 2 }, attempts: 1, last_error: 'cannot reach https://user:***@example.com/2' },
      { name: 'record', data: { number: 1 }, attempts: 2 },
    ])
    expect(Math.abs(Date.now() - (letters[0]?.failed_at ?? 0))).toBeLessThan(120_000)
    expect(await engine.deadLetters(1)).toHaveLength(1)
    expect(log.join()).toContain('Job failed permanently (record)')
    expect(log.join()).not.toContain('secret')
  })

  test('accepts one job per key until the job is done or has permanently failed', async () => {
    const { settings } = await createSetup()
    const done: unknown[] = []
    const gates: (() => void)[] = []
    const { engine } = openWorker(settings, async ({ data }) => {
      done.push(data.number)
      await new Promise<void>((resume) => gates.push(resume))
      if (data.number === 3) throw new Error('permanent failure')
    })
    const keyed = (number: number): NewJob => ({ ...numberedJob(number), key: 'delivery:5:1', max_attempts: 1 })
    await engine.add([keyed(1), { ...numberedJob(9), key: 'delivery:6:1', run_at: Date.now() + 600_000 }])
    await engine.add([keyed(2)])
    await eventually(() => gates.length === 1, 'the first job is running')
    await engine.add([keyed(2)])
    await settle()
    expect(done).toEqual([1])
    gates[0]?.()
    await eventually(async () => (await engine.counts()).active === 0, 'the first job is done')
    await engine.add([keyed(3)])
    await eventually(() => gates.length === 2, 'the key is available again')
    gates[1]?.()
    await eventually(async () => (await engine.counts()).failed === 1, 'the third job has permanently failed')
    await engine.add([keyed(4)])
    await eventually(() => gates.length === 3, 'the key is available after the failure')
    gates[2]?.()
    expect(done).toEqual([1, 3, 4])
  })

  test('finishes the running job on stop and starts no other', async () => {
    const { settings } = await createSetup()
    const finishedNumbers: unknown[] = []
    const { engine } = openEngine(settings, { graceMs: 20_000 })
    let startCount = 0
    engine.work(async ({ data }) => {
      startCount++
      await new Promise((resume) => setTimeout(resume, 400))
      finishedNumbers.push(data.number)
    })
    await engine.add([1, 2, 3, 4, 5, 6].map(numberedJob))
    await eventually(() => startCount > 0, 'a job is running')
    await engine.stop()
    const finished = finishedNumbers.length
    expect(finished).toBeGreaterThan(0)
    expect(finished).toBeLessThan(6)
    await settle()
    expect(finishedNumbers).toHaveLength(finished)
    const { done } = openWorker(settings)
    await eventually(() => done.length === 6 - finished, 'another worker has run the remaining jobs')
  })

  test('aborts and requeues an unfinished job immediately on stop', async () => {
    const { settings } = await createSetup()
    const startedJobs: RunningJob[] = []
    const slowEngine = openEngine(settings, { graceMs: 50, leaseMs: 600_000 })
    slowEngine.engine.work(async (job) => {
      startedJobs.push(job)
      await new Promise((_, reject) => {
        if (job.data.number === 1) job.signal.addEventListener('abort', () => reject(new Error('aborted')))
      })
    })
    await slowEngine.engine.add([{ ...numberedJob(1), max_attempts: 1 }, numberedJob(2)])
    await eventually(() => startedJobs.length === 2, 'both jobs are running')
    await slowEngine.engine.stop()
    expect(startedJobs.map(({ signal }) => signal.aborted)).toEqual([true, true])
    const { done } = openWorker(settings)
    await eventually(() => done.length === 2, 'another worker has run both jobs')
    expect(done.map(({ attempt }) => attempt)).toEqual([1, 1])
  })

  test('ends stop after the grace period and aborts unfinished jobs', async () => {
    const { settings } = await createSetup()
    const { engine } = openEngine(settings, { graceMs: 200 })
    const startedJobs: RunningJob[] = []
    engine.work(async (job) => {
      startedJobs.push(job)
      await new Promise(() => {})
    })
    await engine.add([numberedJob(1)])
    await eventually(() => startedJobs.length === 1, 'the job is running')
    expect(startedJobs[0]?.signal.aborted).toBe(false)
    await engine.stop()
    expect(startedJobs[0]?.signal.aborted).toBe(true)
  })

  test('leaves unknown jobs to a newer release', async () => {
    const { settings } = await createSetup()
    const { engine, done, log } = openWorker(settings)
    await engine.add([{ name: 'future_job' as NewJob['name'], data: {}, max_attempts: 1 }])
    await eventually(async () => (await engine.counts()).delayed === 1, 'the job is delayed')
    expect(await engine.counts()).toEqual({ waiting: 0, delayed: 1, active: 0, failed: 0 })
    expect([done, log]).toEqual([[], []])
  })

  test('does not keep the process alive', async () => {
    const { settings } = await createSetup()
    const child = startChild('../../jobs/fixtures/worker', { settings, timing: QUICK, jobs: [numberedJob(1)] })
    expect(await child.exited).toBe(0)
    expect(child.lines).toContain('ready')
    expect(child.errors).toEqual([])
  })

  test('reports an unavailable server in time and continues after recovery', async ({ skip }) => {
    const { server } = await createSetup()
    if (!server) return skip('the jobs are stored in a file')
    const proxy = await startProxy(server.url)
    const { engine, done, log } = openWorker(server.settings(proxy.url), undefined, { timeoutMs: 2000 })
    await eventually(() => succeeds(engine.add([numberedJob(1)])), 'the engine accepts jobs')
    await eventually(() => done.length > 0, 'the job is done')
    await proxy.refuse()
    await expect(engine.add([numberedJob(2)])).rejects.toThrow()
    await expect(engine.counts()).rejects.toThrow()
    await eventually(() => log.length > 0, 'the outage is logged')
    await settle()
    await proxy.open()
    await eventually(() => succeeds(engine.add([numberedJob(3)])), 'the engine accepts jobs after the outage')
    await eventually(() => done.some(({ data }) => data.number === 3), 'the job is done')
    proxy.hang()
    await expect(engine.add([numberedJob(4)])).rejects.toThrow()
    await proxy.open()
    await eventually(() => succeeds(engine.add([numberedJob(5)])), 'the engine accepts jobs after the hang')
    await eventually(() => done.some(({ data }) => data.number === 5), 'the job is done')
    const outageLines = log.filter((line) => line.includes('Cannot fetch jobs'))
    expect(outageLines.length).toBeLessThanOrEqual(2)
  })
}

interface OpenedEngine {
  engine: JobEngine
  log: string[]
}

function openEngine(settings: Settings, timing: Partial<Timing> = {}): OpenedEngine {
  const log: string[] = []
  const { options: config } = resolveConfiguration(settings, {})
  const append = (line: string) => void log.push(line)
  const database = createDatabase(config.database, '.')
  const engine = createEngine({
    ...{ config, database, timing: { ...QUICK, ...timing } },
    ready: async () => {},
    log: { info: append, warn: append },
    now: Date.now,
    random: Math.random,
  })
  onTestFinished(async () => {
    await engine.stop()
    await database.close()
  })
  return { engine, log }
}

function openWorker(
  settings: Settings,
  handle: HandleJob = async () => {},
  timing: Partial<Timing> = {},
): OpenedEngine & { done: RunningJob[] } {
  const done: RunningJob[] = []
  const opened = openEngine(settings, { graceMs: 100, ...timing })
  opened.engine.work(async (job) => {
    await handle(job)
    done.push(job)
  })
  return { ...opened, done }
}

function numberedJob(number: number): NewJob {
  return { name: 'record', data: { number } }
}

function isEmpty(counts: object): boolean {
  return Object.values(counts).every((count) => count === 0)
}

/** Waits long enough for a job that must not run to show up. */
function settle(): Promise<void> {
  return new Promise((resume) => setTimeout(resume, 300))
}

function succeeds(work: Promise<unknown>): Promise<boolean> {
  return work.then(
    () => true,
    () => false,
  )
}

/** Adds the settings that every tracker requires. */
export function settingsOf(settings: Settings): Settings {
  return { ...CREDENTIALS, application_name: 'shop', ...settings }
}
