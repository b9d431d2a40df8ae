import { Writable } from 'node:stream'
import { expect, test } from 'vitest'
import { createLogger, format, transports } from 'winston'
import { FaultboardTransport, type FaultboardTransportOptions } from '../../src/subscribers/winston.js'
import type { TrackerInstance } from '../../src/tracker.js'
import { describeEachDatabase } from '../support/databases.js'
import { freshTracker } from '../support/tracker.js'
import { recordedBreadcrumbs, recordsWithMessage } from '../support/trails.js'

const ON = { enable_breadcrumbs: true }

describeEachDatabase(
  'winston',
  (database) => {
    const FORMATS = {
      'the usual format': format.json(),
      'format.errors': format.combine(format.errors({ stack: true }), format.json()),
      'format.splat': format.combine(format.splat(), format.errors({ stack: true }), format.simple()),
    }
    test.each(Object.entries(FORMATS))('records errors through %s, once each', async (_name, shape) => {
      const { tracker } = await freshTracker(database)
      const { log } = logger(tracker, { format: shape })
      log.error(new TypeError('alone'))
      log.error('with text', new RangeError('beside'))
      log.error('with a field', { err: new SyntaxError('as err'), order: 7, password: 's3cr3t' })
      log.child({ module: 'cart' }).error(new EvalError('of a child'))
      log.child({ module: 'cart' }).error('text', { error: new URIError('of a child, too') })
      log.warn(new Error('only a warning'))
      log.error('no error at all')
      await nextTurn()
      await tracker.flush()
      const errors = await tracker.Queries.ErrorsList.call()
      expect(
        errors
          .map(({ error_type, occurrence_count, place }) => [error_type, occurrence_count, place?.split(':')[0]])
          .sort(),
      ).toEqual(
        ['EvalError', 'RangeError', 'SyntaxError', 'TypeError', 'URIError'].map((type) => [
          type,
          1,
          'test/subscribers/winston.test.ts',
        ]),
      )
      const [child] = await recordsWithMessage(tracker, 'of a child')
      expect(child?.context).toMatchObject({ log: { module: 'cart' } })
      const [field] = await recordsWithMessage(tracker, 'as err')
      expect(field?.context).toMatchObject({ log: { order: 7, password: '[FILTERED]', message: 'with a field' } })
      expect(JSON.stringify(field)).not.toContain('s3cr3t')
    })

    test('records the original Error, so that a rethrown error is recorded once', async () => {
      const { tracker } = await freshTracker(database)
      const { log } = logger(tracker, { format: FORMATS['format.splat'] })
      const error = new Error('logged and thrown on')
      log.error('payment failed', error)
      void tracker.report(error, { handled: false })
      await nextTurn()
      expect(await recordsWithMessage(tracker, error.message)).toMatchObject([
        { occurrence_count: 1, details: { source: 'report' } },
      ])
    })

    test('uses the levels of the logger and the level of the transport', async () => {
      const { tracker } = await freshTracker(database)
      const levels = { emerg: 0, error: 1, info: 2 }
      const { log } = logger(tracker, { levels, level: 'info' }, { level: 'error' })
      log.log('emerg', new Error('worse than an error'))
      log.log('info', new Error('not an error'))
      await nextTurn()
      await tracker.flush()
      expect((await tracker.Queries.ErrorsList.call()).map(({ message }) => message)).toEqual(['worse than an error'])
    })

    test('records entries without an Error if configured', async () => {
      const { tracker } = await freshTracker(database)
      const { log } = logger(tracker, {}, { record_all: true })
      log.error('stock is empty', { order: 7 })
      await nextTurn()
      expect(await recordsWithMessage(tracker, 'stock is empty')).toMatchObject([
        {
          error_type: 'LogEntry',
          place: expect.stringContaining('test/subscribers/winston.test.ts'),
          context: { log: { order: 7 } },
        },
      ])
    })

    test('records exceptions that winston handles if configured', async () => {
      const { tracker } = await freshTracker(database)
      const { log } = logger(tracker, { exitOnError: false }, { handleExceptions: true })
      const error = new Error('uncaught')
      log.exceptions.handle()
      // Emits the event directly, without the listeners of vitest.
      const [handler] = process.listeners('uncaughtException').slice(-1)
      handler?.(error, 'uncaughtException')
      log.exceptions.unhandle()
      await nextTurn()
      expect(await recordsWithMessage(tracker, error.message)).toMatchObject([
        { occurrence_count: 1, details: { source: 'winston', unhandled: true } },
      ])
    })

    test('adds all log entries as breadcrumbs', async () => {
      const { tracker } = await freshTracker(database, ON)
      const { log } = logger(tracker)
      const trail = await tracker.withScope(() => {
        log.debug('not written')
        log.info('order placed')
        log.warn('token=s3cr3t', { huge: true })
        return recordedBreadcrumbs(tracker)
      })
      expect(trail.map(({ category, message, metadata }) => [category, message, metadata])).toEqual([
        ['log', 'order placed', { level: 'info' }],
        ['log', 'token=[FILTERED]', { level: 'warn' }],
      ])
    })

    test('stops after a shutdown or when the transport is removed, and keeps other transports running', async () => {
      const { tracker } = await freshTracker(database, ON)
      const { log, lines, transport } = logger(tracker)
      log.remove(transport)
      log.error(new Error('not for us'))
      const { log: other, lines: others } = logger(tracker)
      const listeners = process.listenerCount('exit')
      other.error(new Error('last words'))
      expect(process.listenerCount('exit')).toBe(listeners)
      await tracker.shutdown()
      expect(process.listenerCount('exit')).toBeLessThanOrEqual(listeners)
      other.error(new Error('too late'))
      await nextTurn()
      expect([lines.length, others.length]).toEqual([1, 2])
      tracker.start()
      expect((await tracker.Queries.ErrorsList.call()).map(({ message }) => message)).toEqual(['last words'])
    })
  },
  { except: ['postgres', 'mysql'] },
)

function logger(tracker: TrackerInstance, settings: object = {}, options: FaultboardTransportOptions = {}) {
  const lines: string[] = []
  const stream = new Writable({
    write(chunk, _encoding, done) {
      lines.push(String(chunk))
      done()
    },
  })
  const transport = new FaultboardTransport(options, tracker)
  const log = createLogger({ ...settings, transports: [new transports.Stream({ stream }), transport] })
  return { log, lines, transport }
}

function nextTurn(): Promise<void> {
  return new Promise((done) => setImmediate(done))
}
