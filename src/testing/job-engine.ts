import assert from 'node:assert/strict'
import type { HandleJob, JobEngine, NewJob, RunningJob } from '../jobs/engine.js'
import { type ContractCase, waitUntil } from './contract.js'

export type TestJobEngine = Omit<JobEngine, 'name'> & { readonly name: string }

export interface JobEngineHarness {
  /** Creates an empty queue. `connect` returns another engine on the same queue, with retry delays below one second. */
  open(): Promise<{ connect(): TestJobEngine; close(): Promise<unknown> }>
}

const DELAY_MS = 1000

/** Requirements for a job engine: runs jobs at least once, on one worker at a time, with retries and dead letters. */
export function jobEngineContract({ open }: JobEngineHarness): ContractCase[] {
  const define = (title: string, body: (connect: () => TestJobEngine) => Promise<void>): ContractCase => ({
    title,
    async run() {
      const engines: TestJobEngine[] = []
      const { connect, close } = await open()
      try {
        await body(() => {
          const engine = connect()
          engines.push(engine)
          return engine
        })
      } finally {
        for (const engine of engines) await engine.stop()
        await close()
      }
    },
  })
  return [
    define('runs a job once with its data', async (connect) => {
      const engine = connect()
      const done = startWorker(engine)
      const data = { number: 1, text: 'ü "…" \n', list: [1, { a: null }] }
      await engine.add([{ name: 'record', data }])
      await waitUntil(() => isIdle(engine), 'the queue is empty')
      assert.deepEqual(
        done.map((job) => [job.name, job.attempt, job.data]),
        [['record', 1, data]],
      )
    }),
    define('runs each job on exactly one of several workers', async (connect) => {
      const [first, second] = [connect(), connect()]
      const done = [startWorker(first), startWorker(second)]
      const numbers = Array.from({ length: 50 }, (_, number) => number)
      await first.add(numbers.map(numberedJob))
      await waitUntil(() => isIdle(first), 'the queue is empty')
      const all = done.flat().map(({ data }) => Number(data.number))
      assert.deepEqual(
        all.sort((a, b) => a - b),
        numbers,
      )
    }),
    define('keeps one of two jobs with the same key', async (connect) => {
      const engine = connect()
      await engine.add([{ ...numberedJob(1), key: 'same' }])
      await engine.add([{ ...numberedJob(2), key: 'same' }])
      const done = startWorker(engine)
      await waitUntil(() => isIdle(engine), 'the queue is empty')
      assert.equal(done.length, 1)
    }),
    define('runs a delayed job when it is due', async (connect) => {
      const engine = connect()
      const startedAt: number[] = []
      startWorker(engine, async () => void startedAt.push(Date.now()))
      const run_at = Date.now() + DELAY_MS
      await engine.add([{ ...numberedJob(1), run_at }])
      await waitUntil(() => startedAt.length > 0, 'the job ran')
      assert.ok((startedAt[0] ?? 0) >= run_at, 'the job ran too early')
    }),
    define('retries a failed job and counts the attempts', async (connect) => {
      const engine = connect()
      const attempts: number[] = []
      startWorker(engine, async ({ attempt }) => {
        attempts.push(attempt)
        if (attempt < 3) throw new Error('not yet')
      })
      await engine.add([numberedJob(1)])
      await waitUntil(() => attempts.length === 3, 'the third attempt')
      await waitUntil(() => isIdle(engine), 'the queue is empty')
      assert.deepEqual(attempts, [1, 2, 3])
    }),
    define('keeps a job that failed permanently as a dead letter', async (connect) => {
      const engine = connect()
      startWorker(engine, async () => {
        throw new Error('always fails')
      })
      await engine.add([{ ...numberedJob(7), max_attempts: 2 }])
      await waitUntil(async () => (await engine.counts()).failed === 1, 'the job failed permanently')
      const [letter] = await engine.deadLetters(10)
      assert.equal(letter?.attempts, 2)
      assert.deepEqual(letter?.data, { number: 7 })
      assert.match(letter?.last_error ?? '', /always fails/)
    }),
    define('returns an unfinished job to the queue on stop', async (connect) => {
      const engine = connect()
      let isStarted = false
      engine.work(({ signal }) => {
        isStarted = true
        return new Promise((_, reject) => signal.addEventListener('abort', () => reject(new Error('stopped'))))
      })
      await engine.add([numberedJob(1)])
      await waitUntil(() => isStarted, 'the job started')
      await engine.stop()
      const done = startWorker(connect())
      await waitUntil(() => done.length === 1, 'another worker ran the job')
    }),
  ]
}

function startWorker(engine: TestJobEngine, handle: HandleJob = async () => {}): RunningJob[] {
  const done: RunningJob[] = []
  engine.work(async (job) => {
    await handle(job)
    done.push(job)
  })
  return done
}

async function isIdle(engine: TestJobEngine): Promise<boolean> {
  return Object.values(await engine.counts()).every((count) => count === 0)
}

function numberedJob(number: number): NewJob {
  return { name: 'record', data: { number } }
}
