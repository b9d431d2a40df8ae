import type {
  AssignedNotice,
  BaselineNotice,
  DigestError,
  DigestNotice,
  ErrorNotice,
  HeldNotice,
  Notice,
  NoticeEvent,
  TestNotice,
} from '../../src/notifications/content/notice.js'
import { NOON } from '../support/tracker.js'

const HOUR = 3_600_000
const NOTICE_ORIGIN = { application_name: 'shop', environment: 'production', at: NOON }

export const SIGNATURE = 'ab'.repeat(32)

/** Error text that tries to mention users, add links or inject markup. */
const HOSTILE = [
  '@everyone @here @channel <!channel> <!here> <@U123> <@&456> <#C1>',
  '[click](http://evil.example) <http://evil.example|click> ![x](http://evil.example/x.png) www.evil.example',
  '*bold* _it_ ~~no~~ `code` ``` ||spoiler|| # heading',
  '<script>alert(1)</script><img src=x onerror=alert(1)>"\'</td></table>',
  'x\r\nBcc: victim@evil.example\r\n\r\nbody\u0000\u001b[31m',
  'invoice\u202Efdp.exe \uD800 \u2028 "}],"x":[{"',
].join(' ')

export function errorNotice(
  event: ErrorNotice['event'],
  error: Partial<ErrorNotice['error']> = {},
  overrides: Partial<ErrorNotice> = {},
): ErrorNotice {
  return {
    ...{ event, ...NOTICE_ORIGIN, severity: 'high' },
    error: {
      ...{ id: 42, application_id: 1, error_type: 'TypeError', message: 'cart.total is not a function' },
      ...{ place: 'src/cart.js:12 in total', platform: 'Web', app_version: '2.4.0', occurrence_count: 1 },
      ...{ first_seen_at: NOON - 2 * HOUR, occurred_at: NOON, hash_signature: SIGNATURE, regressed_in_version: null },
      ...error,
    },
    ...overrides,
  }
}

export function baselineNotice(error_type = 'TimeoutError'): BaselineNotice {
  return {
    ...{ event: 'baseline', ...NOTICE_ORIGIN, severity: 'critical', application_id: 1, error_type },
    platforms: [{ platform: 'Web', count: 37, mean: 4.2, std_dev: 1.1, deviations: 29.8 }],
  }
}

export function heldNotice(notices: HeldNotice['notices'] = [errorNotice('new'), baselineNotice()]): HeldNotice {
  return {
    event: 'held',
    reason: 'quiet_hours',
    ...NOTICE_ORIGIN,
    severity: 'critical',
    total: notices.length + 3,
    notices,
  }
}

function assignedNotice(
  errors: readonly AssignedNotice['errors'][number][] = [errorNotice('new')],
  overrides: Partial<AssignedNotice> = {},
): AssignedNotice {
  return {
    ...{ event: 'assigned', ...NOTICE_ORIGIN, severity: 'high', assigned_by: 'Anna', errors, total: errors.length },
    error_ids: errors.map(({ error }) => error.id),
    recipient: { name: 'Ben', email: 'ben@shop.example' },
    ...overrides,
  }
}

function testNotice(requested_by = 'admin'): TestNotice {
  return { event: 'test', ...NOTICE_ORIGIN, severity: 'low', requested_by }
}

export function digestNotice(overrides: Partial<DigestNotice['digest']> = {}): DigestNotice {
  const digestError = (
    id: number,
    error_type: string,
    severity: DigestError['severity'],
    count: number,
  ): DigestError => ({
    ...{ id, application_id: 1, application_name: 'shop', error_type, severity, count },
    message: `${error_type} of the digest`,
  })
  return {
    ...{ event: 'digest', ...NOTICE_ORIGIN, severity: 'low' },
    digest: {
      ...{ frequency: 'daily', from: NOON - 24 * HOUR, to: NOON },
      figures: {
        occurrences: { now: 1240, before: 1000 },
        new_errors: { now: 2, before: 4 },
        regressed_errors: { now: 1, before: 0 },
        resolved_errors: { now: 3, before: 3 },
      },
      new_errors: [digestError(1, 'RangeError', 'high', 12), digestError(2, 'SyntaxError', 'medium', 3)],
      regressed_errors: [digestError(3, 'TypeError', 'critical', 7)],
      top_errors: [digestError(4, 'TimeoutError', 'medium', 1100)],
      resolved_errors: [digestError(5, 'URIError', 'low', 1)],
      ...overrides,
    },
  }
}

/** One notice of each kind. */
export const NOTICES: Readonly<Record<NoticeEvent, Notice>> = {
  new: errorNotice('new'),
  reopened: errorNotice('reopened', { regressed_in_version: '2.4.0', occurrence_count: 9 }),
  milestone: errorNotice('milestone', { occurrence_count: 103 }, { milestone: 100 }),
  resolved: errorNotice('resolved'),
  baseline: baselineNotice(),
  held: heldNotice(),
  digest: digestNotice(),
  assigned: assignedNotice(),
  test: testNotice(),
}

/** Notices with the given text in every field that contains external text. */
export function hostileNotices(text = HOSTILE): Notice[] {
  const error = { error_type: text, message: text, place: text, platform: text, app_version: text }
  const named = { application_name: text, environment: text }
  const reopened = errorNotice('reopened', { ...error, regressed_in_version: text }, named)
  const baseline = { ...baselineNotice(text), ...named }
  const platforms = baseline.platforms.map((platform) => ({ ...platform, platform: text }))
  return [
    errorNotice('new', error, named),
    reopened,
    { ...baseline, platforms },
    { ...heldNotice(Array.from({ length: 60 }, () => reopened)), ...named },
    { ...testNotice(text), ...named },
    { ...assignedNotice([errorNotice('new', error, named)], { assigned_by: text }), ...named },
    {
      ...assignedNotice(
        Array.from({ length: 10 }, () => errorNotice('new', error, named)),
        { total: 60, assigned_by: text, recipient: { name: text, email: 'ben@shop.example' } },
      ),
      ...named,
    },
    {
      ...digestNotice({
        new_errors: Array.from({ length: 20 }, (_, id) => ({
          ...{ id, application_id: 1, application_name: text, error_type: text, message: text },
          ...{ severity: 'high' as const, count: 1 },
        })),
      }),
      ...named,
    },
  ]
}
