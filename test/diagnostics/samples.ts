import { createHash } from 'node:crypto'
import { DAY, HOUR, startOfHour } from '../../src/model/time.js'
import { withDatabase } from '../support/tracker.js'

export interface SampleWords {
  type: string
  place: string
  handler: string
  rule: string
  address: string
  path: string
}

/** Stores counts of several weeks with the given names. */
export async function storeSamples(url: string, now: number, words: readonly SampleWords[]): Promise<void> {
  await withDatabase(url, async ({ read }) => {
    const { id: application_id } = await read
      .selectFrom('faultboard_applications')
      .select('id')
      .executeTakeFirstOrThrow()
    for (const [i, { type, place, handler, rule, address, path }] of words.entries()) {
      const hours = [0, 1, 2, 9, 20].map((back) => startOfHour(now) - back * DAY - i * HOUR)
      const raised = { application_id, environment: 'test', error_type: type, raise_location: place }
      await read
        .insertInto('faultboard_swallowed_exceptions')
        .values(
          hours.flatMap((hour) => [
            {
              ...raised,
              hour,
              location_digest: digest(place, type),
              rescue_location: '',
              handler_kind: '',
              raise_count: 100 + i,
              rescue_count: 0,
            },
            {
              ...raised,
              hour,
              location_digest: digest(place, type, handler),
              rescue_location: handler,
              handler_kind: ['empty', 'logs', 'value'][i % 3] ?? '',
              raise_count: 0,
              rescue_count: 100,
            },
          ]),
        )
        .execute()
      await read
        .insertInto('faultboard_request_guard_hours')
        .values(
          hours.map((hour) => ({
            application_id,
            environment: 'test',
            hour,
            event_digest: digest(rule, address, path),
            kind: ['throttle', 'blocklist', 'track'][i % 3] ?? '',
            rule,
            ip_address: address,
            path,
            count: 7 + i * 3,
          })),
        )
        .execute()
    }
  })
}

function digest(...parts: string[]): string {
  return createHash('sha256').update(JSON.stringify(parts)).digest('hex')
}

export const ORDINARY: readonly SampleWords[] = [
  {
    type: 'TypeError',
    place: 'src/cart/total.ts:42:11',
    handler: 'src/cart/show.ts:18:5',
    rule: 'sign-in',
    address: '192.0.2.17',
    path: '/login',
  },
  {
    type: 'SyntaxError',
    place: 'src/prices/parse.ts:9:20',
    handler: 'src/prices/load.ts:31:3',
    rule: 'known scrapers',
    address: '203.0.113.5',
    path: '/products',
  },
  {
    type: 'PaymentDeclined',
    place: 'src/pay/charge.ts:77:13',
    handler: 'src/pay/retry.ts:12:7',
    rule: 'new devices',
    address: '2001:db8::7',
    path: '/account/devices',
  },
]

export const EVIL = `"'><script>alert(1)</script><img src=x onerror=alert(1)>\u2028</title></pre>`

export const HOSTILE: readonly SampleWords[] = [
  { type: EVIL, place: `${EVIL}.ts:1`, handler: EVIL, rule: EVIL, address: EVIL.slice(0, 60), path: EVIL },
  {
    type: 'W'.repeat(255),
    place: `src/${'deeply/'.repeat(60)}nested.ts:1:1`,
    handler: 'x'.repeat(500),
    rule: 'r'.repeat(255),
    address: 'f'.repeat(64),
    path: `/${'p'.repeat(499)}`,
  },
  { type: 'خطأ في الحساب', place: 'src/🛒/סל.ts:3:1', handler: '', rule: '', address: '', path: '' },
]
