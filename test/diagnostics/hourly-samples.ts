import { DEPRECATION_HOURS } from '../../src/diagnostics/deprecations/hours.js'
import { STATEMENT_HOURS } from '../../src/diagnostics/n-plus-one/hours.js'
import { GUARD_HOURS } from '../../src/diagnostics/request-guard/hours.js'
import { DAY, HOUR, startOfHour } from '../../src/model/time.js'
import { namesDigest } from '../../src/store/counters/define-hour-table.js'
import { withDatabase } from '../support/tracker.js'
import { EVIL } from './samples.js'

const environment = 'test'

export interface CountedWords {
  statement: string
  route: string
  place: string
  code: string
  message: string
  app_version: string
}

/** Stores repeated statements and deprecations of several weeks with the given names. */
export async function storeCounted(url: string, now: number, words: readonly CountedWords[]): Promise<void> {
  await withDatabase(url, async ({ read }) => {
    const { id: application_id } = await read
      .selectFrom('faultboard_applications')
      .select('id')
      .executeTakeFirstOrThrow()
    for (const [i, { statement, route, place, code, message, app_version }] of words.entries()) {
      const hours = [0, 1, 2, 9, 20].map((back) => startOfHour(now) - back * DAY - i * HOUR)
      const run = { environment, statement, route, place }
      const warning = { environment, code, message, place, app_version }
      const sums = { request_count: 40 + i, statement_count: 900 - i, worst_count: 31 + i, duration_ms: 12_345 }
      await read
        .insertInto('faultboard_repeated_statement_hours')
        .values(
          hours.map((hour) => ({
            application_id,
            hour,
            statement_digest: namesDigest(STATEMENT_HOURS, run),
            ...run,
            ...sums,
            last_seen_at: hour + 60_000,
          })),
        )
        .execute()
      await read
        .insertInto('faultboard_deprecation_hours')
        .values(
          hours.map((hour) => ({
            application_id,
            hour,
            warning_digest: namesDigest(DEPRECATION_HOURS, warning),
            ...warning,
            count: 3 + i,
            first_seen_at: hour,
            last_seen_at: hour + 60_000,
          })),
        )
        .execute()
    }
  })
}

/** Stored rows of an attack: the most frequent names and the combined rest. */
export async function storeAttack(url: string, now: number): Promise<void> {
  await withDatabase(url, async ({ read }) => {
    const { id: application_id } = await read
      .selectFrom('faultboard_applications')
      .select('id')
      .executeTakeFirstOrThrow()
    const rows = Array.from({ length: 200 }, (_, i) => ({
      environment,
      kind: 'throttle',
      rule: 'sign-in',
      ip_address: i === 0 ? '(others)' : `2001:db8:${i.toString(16)}::1`,
      path: '/login',
    }))
    await read
      .insertInto('faultboard_request_guard_hours')
      .values(
        rows.map((names, i) => ({
          application_id,
          hour: startOfHour(now),
          event_digest: namesDigest(GUARD_HOURS, names),
          ...names,
          count: i === 0 ? 99_512_345 : 400 - i,
          last_seen_at: startOfHour(now),
        })),
      )
      .execute()
  })
}

export const ORDINARY_COUNTED: readonly CountedWords[] = [
  {
    statement: 'select "id", "name", "price" from "products" where "id" = $1 limit ?',
    route: 'GET /orders/:id',
    place: 'src/orders/load-lines.ts:42 in loadLines',
    code: 'DEP0169',
    message: '`url.parse()` behavior is not standardized and prone to errors that have security implications.',
    app_version: '2.14.0',
  },
  {
    statement: 'select * from `users` where `id` = ?',
    route: 'POST /checkout',
    place: 'src/checkout/customer.ts:17',
    code: '',
    message: 'DEPRECATED: the option `strictQuery` will be switched back to false by default in the next major.',
    app_version: '',
  },
  {
    statement: 'select count(*) from comments where post_id = $1',
    route: 'job nightly-digest',
    place: '',
    code: 'HOST001',
    message: 'cart.total() is deprecated, use cart.sum()',
    app_version: '2.13.9',
  },
]

export const HOSTILE_COUNTED: readonly CountedWords[] = [
  { statement: EVIL, route: EVIL, place: EVIL, code: EVIL.slice(0, 60), message: EVIL, app_version: EVIL },
  {
    statement: `select ${'a_very_long_column_name, '.repeat(40)}`.slice(0, 1000),
    route: `GET /${'p'.repeat(490)}`,
    place: `src/${'deeply/'.repeat(60)}nested.ts:1 in x`,
    code: 'C'.repeat(64),
    message: 'W'.repeat(1000),
    app_version: 'v'.repeat(128),
  },
  {
    statement: 'خطأ في الحساب',
    route: '',
    place: '(others)',
    code: '',
    message: 'סל הקניות יוסר',
    app_version: '',
  },
  { statement: '(others)', route: '(others)', place: '', code: '', message: '(others)', app_version: '1' },
]
