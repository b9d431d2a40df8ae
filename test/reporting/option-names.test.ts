import { expect, test } from 'vitest'
import { type FetchOptions, withFaultboard } from '../../src/adapters/fetch.js'
import { type ReportingOptions, reportingEndpoint } from '../../src/reporting/endpoint.js'
import { type SentryIntakeOptions, sentryIntake } from '../../src/reporting/sentry/intake.js'
import { type PinoOptions, subscribeToPino } from '../../src/subscribers/pino.js'
import { FaultboardTransport, type FaultboardTransportOptions } from '../../src/subscribers/winston.js'
import { describeOneDatabase } from '../support/databases.js'
import { freshTracker } from '../support/tracker.js'

const CLIENT = '192.0.2.7'

describeOneDatabase('options of functions', (database) => {
  async function setUp() {
    const { tracker } = await freshTracker(database)
    const addresses = async () => {
      await tracker.flush()
      const errors = await tracker.Queries.ErrorsList.call()
      const found = await Promise.all(errors.map(({ id }) => tracker.Queries.FindError.call({ error_id: id })))
      return found.map(({ ip_address }) => ip_address)
    }
    return { tracker, addresses }
  }

  test('endpoints read options in camelCase', async () => {
    const { tracker } = await setUp()
    expect(() => reportingEndpoint({ tracker, maxBytes: 0 })).toThrow('max_bytes must be')
    expect(() => reportingEndpoint({ tracker, allowedOrigins: ['x'] })).toThrow('allowed_origins: "x" is not an origin')
    expect(() => sentryIntake({ tracker, keys: ['a'], maxBytes: 0 })).toThrow('max_bytes must be')
    expect(() => sentryIntake({ tracker, keys: ['a'], allowedOrigins: ['x'] })).toThrow('allowed_origins: "x"')
  })

  test('functions reject misspelled options and both spellings of an option', async () => {
    const { tracker } = await setUp()
    const reporting = { trustUsr: true, max_bytes: 5, maxBytes: 5 } as ReportingOptions
    expect(() => reportingEndpoint(reporting)).toThrow(
      /max_bytes and maxBytes are two spellings[\s\S]*trustUsr is not an option; did you mean trustUser\?/,
    )
    const intake = { keys: ['a'], store_ip_address: true } as SentryIntakeOptions
    expect(() => sentryIntake(intake)).toThrow('did you mean store_ip_addresses?')
    expect(() => subscribeToPino({ recordAl: true } as PinoOptions, tracker)).toThrow('did you mean recordAll?')
    const winston = { errorLevl: 'warn', silent: true } as FaultboardTransportOptions
    expect(() => new FaultboardTransport(winston, tracker)).toThrow(
      'errorLevl is not an option; did you mean errorLevel?',
    )
    const fetch = { tracker, remote_adress: () => CLIENT } as FetchOptions<[]>
    expect(() => withFaultboard(() => {}, fetch)).toThrow('did you mean remote_address?')
  })

  test('handle records the address that is passed in camelCase', async () => {
    const { tracker, addresses } = await setUp()
    const error = { error_type: 'CartError', message: 'x', stack: '', platform: 'Web', app_version: '1' }
    const body = JSON.stringify({ error: { ...error, url: 'https://shop.example/', timestamp: Date.now() } })
    const headers = { 'content-type': 'application/json' }
    const request = new Request('https://shop.example/client_errors', { method: 'POST', headers, body })
    const response = await reportingEndpoint({ tracker }).handle(request, { remoteAddress: CLIENT })
    expect([response.status, await response.text()]).toEqual([201, expect.stringContaining('true')])
    expect(await addresses()).toEqual([CLIENT])
  })

  test('a Fetch handler records the address that is returned in camelCase', async () => {
    const { tracker, addresses } = await setUp()
    const fail = () => {
      throw new Error('broken')
    }
    const handler = withFaultboard(fail, { tracker, remoteAddress: () => CLIENT })
    expect(() => handler(new Request('https://shop.example/'))).toThrow('broken')
    expect(await addresses()).toEqual([CLIENT])
  })

  test('the winston transport reads options in camelCase', async () => {
    const { tracker, addresses } = await setUp()
    const transport = new FaultboardTransport({ recordAll: true, errorLevel: 'warn' }, tracker)
    transport.levels = { error: 0, warn: 1, info: 2 }
    transport.write({ [Symbol.for('level')]: 'warn', level: 'warn', message: 'low on stock' })
    transport.write({ [Symbol.for('level')]: 'info', level: 'info', message: 'sold' })
    await new Promise((resolve) => setImmediate(resolve))
    expect(await addresses()).toHaveLength(1)
  })
})
