import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { expect, test } from 'vitest'
import type { CaptureContext } from '../../../src/capture/capture-context.js'
import { LagGuard } from '../../../src/capture/guards/lag.js'
import { MessageFloods } from '../../../src/capture/guards/message-floods.js'
import { Storms } from '../../../src/capture/guards/storms.js'
import { createCaptureHooks } from '../../../src/capture/hooks.js'
import { logError } from '../../../src/capture/log-error.js'
import { Scopes } from '../../../src/capture/scope.js'
import { SourceLines } from '../../../src/capture/source-maps/source-lines.js'
import { Counters } from '../../../src/model/counters.js'
import { NO_REDACTION } from '../../../src/model/redaction/redaction.js'
import { resolveConfiguration } from '../../../src/options.js'
import { type OpenGroup, type Receipt, settleInBatches } from '../../../src/store/recording/open-batch.js'
import { describeOneDatabase } from '../../support/databases.js'
import { countIterations } from '../../support/event-loop.js'
import { CREDENTIALS, freshTracker } from '../../support/tracker.js'

setFlagsFromString('--expose-gc')
const collectGarbage = runInNewContext('gc') as () => void

test('does not retain the error of a caller that waits for the database', async () => {
  const waiting: (() => void)[] = []
  const neverWritten = {
    config: resolveConfiguration({ ...CREDENTIALS, database: 'sqlite::memory:' }, {}).options,
    recorder: { record: () => new Promise<void>((settle) => waiting.push(settle)) },
    redactor: NO_REDACTION,
    counters: new Counters(),
    now: Date.now,
    random: Math.random,
    scopes: new Scopes('never'),
    storms: new Storms(1000),
    floods: new MessageFloods(200),
    lag: new LagGuard(null),
    positions: undefined,
    sourceLines: new SourceLines({ project_root: process.cwd(), positions: undefined }),
    hooks: createCaptureHooks(),
    processFacts: {},
  } as unknown as CaptureContext
  const given = Array.from({ length: 50 }, () => {
    const exception = new Error('large')
    void logError(neverWritten, { exception })
    return new WeakRef(exception)
  })
  await new Promise((resume) => setTimeout(resume, 10))
  collectGarbage()
  expect(waiting).toHaveLength(50)
  // The engine may still hold the last object in a register.
  expect(given.filter((reference) => reference.deref() !== undefined).length).toBeLessThanOrEqual(1)
})

describeOneDatabase('many callers of one batch', (database) => {
  test('many callers of one batch settle in order, in several event loop iterations', async () => {
    const { tracker } = await freshTracker(database)
    await tracker.ready()
    const numbers: (number | null | undefined)[] = []
    const record = async () => {
      const recorded = await tracker.Commands.LogError.call({ error_type: 'E', message: 'm' })
      numbers.push(recorded?.occurrence_count)
    }
    await record()
    const first = record()
    const others = Array.from({ length: 1999 }, record)
    await first
    const iterationsBetween = await countIterations(() => Promise.all(others))
    expect(numbers).toEqual(Array.from({ length: 2001 }, (_, i) => i + 1))
    expect(iterationsBetween).toBeGreaterThanOrEqual(3)
  })
})

test('settles the callers of a spooled batch in several event loop iterations', async () => {
  const receipts: Receipt[] = []
  const settle = (receipt: Receipt) => receipts.push(receipt)
  const group = { callers: Array.from({ length: 900 }, () => settle) } as unknown as OpenGroup
  const iterations = await countIterations(() => settleInBatches([group, group], { state: 'spooled' }))
  expect(receipts).toHaveLength(1800)
  expect(iterations).toBeGreaterThanOrEqual(5)
})
