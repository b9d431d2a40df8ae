import { describe, expect, test } from 'vitest'
import { gradeSeverity, type SeverityInput } from '../../../src/model/severity/grade-severity.js'
import type { Severity } from '../../../src/model/severity/severity.js'
import { resolveConfiguration } from '../../../src/options.js'

const grade = (error_type: string, more: Partial<SeverityInput> = {}) =>
  gradeSeverity({ error_type, rules: [], ...more })

describe('precedence of severities', () => {
  const rules = [
    [/^Payment/, 'critical'],
    [/Error$/, 'medium'],
    [/^Type/, 'low'],
  ] as const

  test('prefers an explicit severity to every rule', () => {
    expect(grade('PaymentError', { rules, explicit: 'low' })).toBe('low')
    expect(grade('OutOfMemoryError', { explicit: 'low' })).toBe('low')
  })
  test('applies the first rule that matches the class name', () => {
    expect(grade('PaymentError', { rules })).toBe('critical')
    expect(grade('TypeError', { rules })).toBe('medium')
    expect(grade('TypeMismatch', { rules })).toBe('low')
  })
  test('prefers a custom rule to the built-in rules, even for unhandled errors', () => {
    expect(grade('TypeError', { rules: [[/Type/, 'low']], unhandled: true })).toBe('low')
  })
  test('falls back to the built-in rules', () => {
    expect(grade('AssertionError', { rules: [[/Payment/, 'critical']] })).toBe('high')
  })
  test('matches a rule with a stateful flag every time', () => {
    const stateful: SeverityInput['rules'] = [
      [/PaymentDeclined/g, 'critical'],
      [/Refund/y, 'high'],
    ]
    for (let i = 0; i < 4; i++) {
      expect(grade('PaymentDeclined', { rules: stateful })).toBe('critical')
      expect(grade('RefundFailed', { rules: stateful })).toBe('high')
    }
  })
  test('matches a rule against the class name and not the code', () => {
    expect(grade('Oops', { rules: [[/EWEIRD/, 'critical']], code: 'EWEIRD' })).toBe('low')
  })
})

describe('built-in rules', () => {
  const cases: [Severity, string, string?][] = [
    // Out of memory.
    ['critical', 'OutOfMemoryError'],
    ['critical', 'Error', 'ERR_WORKER_OUT_OF_MEMORY'],
    ['critical', 'Error', 'ENOMEM'],
    ['critical', 'OOMError'],
    ['critical', 'HeapOomError'],
    // Lost disk.
    ['critical', 'Error', 'ENOSPC'],
    ['critical', 'Error', 'EROFS'],
    ['critical', 'Error', 'EIO'],
    ['critical', 'SqliteError', 'SQLITE_FULL'],
    ['critical', 'SqliteError', 'SQLITE_IOERR_WRITE'],
    // Lost database.
    ['critical', 'DatabaseConnectionError'],
    ['critical', 'SequelizeConnectionRefusedError'],
    ['critical', 'PrismaClientInitializationError'],
    ['critical', 'MongoNetworkError'],
    ['critical', 'MongoServerSelectionError'],
    ['critical', 'Error', 'PROTOCOL_CONNECTION_LOST'],
    ['critical', 'error', '57P01'],
    ['critical', 'error', '08006'],
    // Programming errors.
    ['high', 'TypeError'],
    ['high', 'ReferenceError'],
    ['high', 'RangeError'],
    ['high', 'SyntaxError'],
    ['high', 'AssertionError'],
    ['high', 'TypeError', 'ERR_INVALID_ARG_TYPE'],
    // Timeouts.
    ['medium', 'TimeoutError'],
    ['medium', 'RequestTimedOut'],
    ['medium', 'Error', 'ETIMEDOUT'],
    ['medium', 'Error', 'UND_ERR_CONNECT_TIMEOUT'],
    // Aborted or refused connections.
    ['medium', 'AbortError'],
    ['medium', 'Error', 'ECONNABORTED'],
    ['medium', 'Error', 'ECONNREFUSED'],
    ['medium', 'Error', 'ECONNRESET'],
    ['medium', 'AggregateError', 'ECONNREFUSED'],
    ['medium', 'ConnectionRefusedError'],
    // Validation.
    ['medium', 'ValidationError'],
    ['medium', 'ZodError'],
    // Any other error.
    ['low', 'Error'],
    ['low', 'PaymentDeclined'],
    ['low', 'RoomNotFoundError'],
    ['low', 'BloomFilterError'],
    ['low', 'ZoomError'],
    ['low', 'ROOM'],
    ['low', 'StudioError'],
    ['low', 'MyTypeError'],
    ['low', 'Error', 'ENOENT'],
    ['low', 'error', '23505'],
    ['low', 'OrderError', '28104'],
  ]
  test.each(cases)('assigns the severity %s to %s %s', (severity, error_type, code) => {
    expect(grade(error_type, { code })).toBe(severity)
  })

  test.each([
    ['TypeError', 'high'],
    ['TimeoutError', 'medium'],
    ['PaymentDeclined', 'medium'],
    ['OutOfMemoryError', 'critical'],
  ] as const)('grades %s as %s if the response status was 5xx', (error_type, severity) => {
    expect(grade(error_type, { request_failed: true })).toBe(severity)
  })

  test('does not raise an explicit severity or that of a custom rule', () => {
    const floors = { unhandled: true, request_failed: true }
    expect(grade('PaymentDeclined', { ...floors, explicit: 'low' })).toBe('low')
    expect(grade('PaymentDeclined', { ...floors, rules: [[/Payment/, 'low']] })).toBe('low')
    expect(grade('PaymentDeclined', floors)).toBe('high')
  })

  test('uses the severity of a cause if it takes precedence', () => {
    const causes = [{ error_type: 'Wrapped', causes: [{ error_type: 'error', code: '57P01' }] }]
    expect(grade('OrderError', { causes })).toBe('critical')
    expect(grade('OrderError', { causes: [{ error_type: 'TypeError' }] })).toBe('high')
    expect(grade('TypeError', { causes: [{ error_type: 'Error', code: 'ETIMEDOUT' }] })).toBe('medium')
  })

  test('grades a failed connection as critical only if the first frame outside Node.js is in a driver', () => {
    const error = { code: 'ECONNRESET', message: 'read ECONNRESET' }
    const ownFrame = 'at charge (/srv/app/src/payments.js:7:3)'
    const driverFrame = 'at Client.query (/srv/app/node_modules/.pnpm/pg@8.1.0/node_modules/pg/lib/client.js:526:17)'
    const socketFrame = 'at TCP.onStreamRead (node:internal/stream_base_commons:217:20)'
    expect(grade('Error', { ...error, backtrace: [socketFrame, driverFrame, ownFrame] })).toBe('critical')
    expect(grade('Error', { ...error, backtrace: [socketFrame, ownFrame, driverFrame] })).toBe('medium')
    expect(grade('Error', { message: 'out of stock', backtrace: [driverFrame] })).toBe('low')
  })

  test('raises unhandled errors to high, and keeps critical', () => {
    expect(grade('PaymentDeclined', { unhandled: true })).toBe('high')
    expect(grade('TimeoutError', { unhandled: true })).toBe('high')
    expect(grade('OutOfMemoryError', { unhandled: true })).toBe('critical')
  })
})

describe('string keys', () => {
  const credentials = { dashboard_username: 'a', dashboard_password: 'b' }

  test.each([
    [
      'a Map',
      new Map<string | RegExp, Severity>([
        ['PaymentError', 'critical'],
        [/Refund/, 'high'],
      ]),
    ],
    [
      'a list of pairs',
      [
        ['PaymentError', 'critical'],
        [/Refund/, 'high'],
      ] as [string | RegExp, Severity][],
    ],
  ])('ignores string keys in %s and warns about them', (_, custom_severity_rules) => {
    const { options, warnings } = resolveConfiguration({ ...credentials, custom_severity_rules }, {})
    expect(grade('PaymentError', { rules: options.custom_severity_rules })).toBe('low')
    expect(grade('RefundFailed', { rules: options.custom_severity_rules })).toBe('high')
    expect(warnings).toEqual([expect.stringMatching(/string key "PaymentError".*never matches.*RegExp/)])
  })
})
