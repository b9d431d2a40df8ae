import { hasSubscribers } from 'node:diagnostics_channel'
import { createServer } from 'node:http'
import { Writable } from 'node:stream'
import express from 'express'
import pino from 'pino'
import { expect, onTestFinished, test } from 'vitest'
import { capture } from '../../src/adapters/express.js'
import { subscribeToPino } from '../../src/subscribers/pino.js'
import { describeEachDatabase } from '../support/databases.js'
import { startListening } from '../support/host.js'
import { freshTracker } from '../support/tracker.js'
import { recordedBreadcrumbs, recordsWithMessage } from '../support/trails.js'

const ON = { enable_breadcrumbs: true }

describeEachDatabase(
  'pino',
  (database) => {
    test('records error and fatal entries with an Error once each', async () => {
      const { tracker } = await freshTracker(database)
      subscribeToPino({}, tracker)
      const { log } = logger()
      const child = log.child({ module: 'cart', token: 's3cr3t' })
      log.error(new TypeError('alone'))
      child.error({ err: new Error('as err'), order: 7, password: 's3cr3t' }, 'could not %s', 'pay')
      log.error({ error: new Error('as error') })
      log.fatal(new Error('the end'))
      log.warn(new Error('only a warning'))
      log.error('no error at all')
      log.error({ err: { message: 'no Error either' } })
      await nextTurn()
      await tracker.flush()
      const errors = await tracker.Queries.ErrorsList.call()
      expect(
        errors.map(({ error_type, message, occurrence_count }) => [error_type, message, occurrence_count]).sort(),
      ).toEqual([
        ['Error', 'as err', 1],
        ['Error', 'as error', 1],
        ['Error', 'the end', 1],
        ['TypeError', 'alone', 1],
      ])
      const [paid] = await recordsWithMessage(tracker, 'as err')
      expect(paid?.context).toEqual({
        log: { module: 'cart', token: '[FILTERED]', order: 7, password: '[FILTERED]', msg: 'could not pay' },
      })
      expect(paid?.details).toMatchObject({ source: 'pino' })
      expect((await recordsWithMessage(tracker, 'the end'))[0]?.severity).toBe('critical')
    })

    test('records a logged and rethrown error once with its request', async () => {
      const { tracker } = await freshTracker(database)
      subscribeToPino({}, tracker)
      const { log } = logger()
      const app = express()
      app.get('/pay', async () => {
        const error = new Error('card was refused')
        log.error({ err: error }, 'payment failed')
        throw error
      })
      app.use(capture(tracker))
      const server = createServer(app)
      onTestFinished(() => void server.close())
      await (await fetch(`${await startListening(server)}/pay`)).text()
      await nextTurn()
      const [error] = await recordsWithMessage(tracker, 'card was refused')
      expect(error).toMatchObject({ occurrence_count: 1, details: { source: 'express' } })
      expect(error?.request_url).toMatch(/\/pay$/)
    })

    test('records entries without an Error if configured, with the location of the log call', async () => {
      const { tracker } = await freshTracker(database)
      subscribeToPino({ record_all: true }, tracker)
      logger().log.error({ order: 7 }, 'stock is empty')
      await nextTurn()
      const [error] = await recordsWithMessage(tracker, 'stock is empty')
      expect(error).toMatchObject({ error_type: 'LogEntry', context: { log: { order: 7, msg: 'stock is empty' } } })
      expect(error?.place).toContain('pino.test.ts')
    })

    test('records entries logged just before a shutdown', async () => {
      const { tracker } = await freshTracker(database)
      subscribeToPino({}, tracker)
      logger().log.error(new Error('last words'))
      await tracker.shutdown()
      expect(await recordsWithMessage(tracker.start(), 'last words')).toMatchObject([{ occurrence_count: 1 }])
    })

    test('keeps the output of the logger unchanged and stops at shutdown', async () => {
      const { tracker } = await freshTracker(database, ON)
      const before = logEverything()
      subscribeToPino({ record_all: true }, tracker)
      expect(logEverything()).toEqual(before)
      await tracker.shutdown()
      expect(hasSubscribers('tracing:pino_asJson:start')).toBe(false)
      expect(logEverything()).toEqual(before)
    })

    test('adds all log entries as breadcrumbs', async () => {
      const { tracker } = await freshTracker(database, ON)
      const { log } = logger()
      const trail = await tracker.withScope(() => {
        log.trace('not written')
        log.info('order %d', 7)
        log.warn({ huge: { password: 's3cr3t' } }, 'token=s3cr3t')
        log.error(new Error('failed'))
        return recordedBreadcrumbs(tracker)
      })
      expect(trail.map(({ category, message, metadata }) => [category, message, metadata])).toEqual([
        ['log', 'order 7', { level: 'info' }],
        ['log', 'token=[FILTERED]', { level: 'warn' }],
        ['log', 'failed', { level: 'error' }],
      ])
    })

    test('records nothing if enable_error_subscriber is off', async () => {
      const { tracker } = await freshTracker(database, { enable_error_subscriber: false })
      subscribeToPino({}, tracker)
      expect(hasSubscribers('tracing:pino_asJson:start')).toBe(false)
    })
  },
  { except: ['postgres', 'mysql'] },
)

function logger() {
  const lines: string[] = []
  const stream = new Writable({
    write(chunk, _encoding, done) {
      lines.push(String(chunk))
      done()
    },
  })
  return { log: pino({ timestamp: false, base: null }, stream), lines }
}

const FAILURE = new Error('the same every time')

function logEverything(): string[] {
  const { log, lines } = logger()
  log.error(FAILURE)
  log.child({ a: 1 }).error({ err: FAILURE }, 'with text')
  log.error('text %s', 'only')
  log.error(null as never)
  log.fatal({ err: 'no error' })
  const trap = {
    get err() {
      return FAILURE
    },
  }
  log.error(trap)
  return lines
}

function nextTurn(): Promise<void> {
  return new Promise((done) => setImmediate(done))
}
