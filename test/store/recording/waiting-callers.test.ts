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
import { CREDENTIALS } from '../../support/tracker.js'

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
