import { DAY } from '../../model/time.js'
import type { TrackerInstance } from '../../tracker.js'
import { TEAM } from './people.js'

type Commands = TrackerInstance['Commands']

interface Deed {
  key: string
  days_ago: number
  act(commands: Commands, error_id: number): Promise<unknown>
}

const [AMARA, JONAS, MEI, RAFAEL, PRIYA, ELODIE] = TEAM

/** What the team has done about the sample errors so far, oldest first. */
const DEEDS: readonly Deed[] = [
  deed('render-hydration', 43.8, assign(MEI, PRIYA)),
  deed('render-hydration', 43.6, priority(4, PRIYA)),
  deed(
    'render-hydration',
    43.2,
    comment(MEI, 'PriceTag gets the whole price object since the currency change. Fix is in review.'),
  ),
  deed(
    'render-hydration',
    41.9,
    resolve(MEI, 'PriceTag formats the price itself now.', 'https://git.example/larder/storefront/pull/812'),
  ),
  deed('android-npe', 60, assign(RAFAEL, JONAS)),
  deed(
    'android-npe',
    52,
    comment(RAFAEL, 'Slots without a label come from the new warehouse in Linz. Guarded in 8.4.1.'),
  ),
  deed(
    'android-npe',
    38.5,
    resolve(RAFAEL, 'Slots without a label are left out.', 'https://git.example/larder/android/pull/377'),
  ),
  deed('feature-flag', 45.5, priority(3, ELODIE)),
  deed('feature-flag', 38.8, resolve(ELODIE, 'The flags client is initialised before the routes.')),
  deed('coupon-loop', 30, assign(AMARA, AMARA)),
  deed(
    'coupon-loop',
    19.7,
    resolve(AMARA, 'A coupon that grants itself is refused.', 'https://git.example/larder/storefront/pull/840'),
  ),
  deed('csv-bom', 32.9, resolve(PRIYA, 'The byte order mark is skipped.')),
  deed('discount-nan', 29.4, priority(4, JONAS)),
  deed('discount-nan', 29.2, comment(JONAS, 'Coupons with spaces. Rolling out 2.33.1 tonight.')),
  deed(
    'discount-nan',
    26.9,
    resolve(JONAS, 'Coupons are trimmed before they are looked up.', 'https://git.example/larder/orders/pull/1290'),
  ),
  deed('ios-watchdog', 20, assign(RAFAEL, ELODIE)),
  deed('ios-watchdog', 14.6, resolve(RAFAEL, 'The catalogue is decoded off the main thread.')),
  deed('report-heap', 10.8, resolve(PRIYA, 'Rows are streamed.')),
  deed('cookie-json', 5.9, resolve(MEI, 'A cookie that cannot be read counts as empty.')),
  deed('cache-refused', 1.9, resolve(JONAS, 'Prices are read from the database while the cache restarts.')),

  deed(
    'product-missing',
    40,
    status('wont_fix', AMARA, 'Crawlers with old links. The page answers 404, which is right.'),
  ),
  deed('upload-large', 35, status('wont_fix', AMARA, 'The form says 5 MB.')),
  deed('ios-offline', 50, status('wont_fix', RAFAEL, 'Phones lose their connection. The app tries again.')),

  deed('deadlock', 33, resolve(JONAS, 'Stock rows are locked in the order of their sku.')),
  deed('deadlock', 21, status('investigating', JONAS, 'It is back: transfers take a third lock.')),
  deed('deadlock', 20.5, assign(JONAS, PRIYA)),

  deed('pool-exhausted', 7.9, priority(4, PRIYA)),
  deed('pool-exhausted', 7.9, assign(PRIYA, PRIYA)),
  deed(
    'pool-exhausted',
    7.8,
    comment(
      PRIYA,
      'The burst on that morning was the orders report holding every connection. See the statement timeouts.',
    ),
  ),
  deed('pool-exhausted', 6.2, status('in_progress', PRIYA)),
  deed(
    'pool-exhausted',
    6,
    comment(JONAS, 'ReservationExpiredError follows each of these within a minute, so it is not a fault of its own.'),
  ),
  deed('statement-timeout', 7.7, assign(JONAS, PRIYA)),
  deed('statement-timeout', 5.1, status('investigating', JONAS)),
  deed('checkout-failed', 6.5, priority(3, MEI)),
  deed('checkout-failed', 6.4, assign(MEI, AMARA)),
  deed('payment-timeout', 6.4, comment(MEI, 'Asked the provider. They see a slow route from our region.')),
  deed('payment-timeout', 3, snooze(24 * 10, 'The provider moves to another route', MEI)),
  deed('locale-import', 1.2, priority(3, AMARA)),
  deed('locale-import', 1.1, assign(MEI, AMARA)),
  deed('locale-import', 0.9, status('in_progress', MEI)),
  deed('lines-undefined', 2, assign(JONAS, ELODIE)),
  deed('dunning-date', 4, priority(2, PRIYA)),
  deed('ledger-balance', 3.2, priority(4, ELODIE)),
  deed('ledger-balance', 3.1, assign(ELODIE, ELODIE)),
  deed('ledger-balance', 2.8, comment(ELODIE, 'Rounding of refunds in two currencies. Finance knows.')),
  deed('webhook-retry', 9, snooze(24 * 30, 'The accounting system moves next month', PRIYA)),
  deed('android-anr', 12, assign(RAFAEL, ELODIE)),
  deed('ios-basket-index', 11, status('investigating', RAFAEL)),
  deed('vat-rate', 13, priority(1, ELODIE)),
  deed('mail-refused', 16, snooze(24 * 60, 'Address checks come with the new sign-up', ELODIE)),
]

/** Does all of it through the commands. `at` moves the clock of the tracker that does it, so that the trail is dated. */
export async function triage(
  { Commands }: TrackerInstance,
  ids: ReadonlyMap<string, number>,
  now: number,
  at: (time: number) => void,
): Promise<void> {
  for (const { key, days_ago, act } of DEEDS) {
    const error_id = ids.get(key)
    if (error_id === undefined) continue
    at(now - days_ago * DAY)
    await act(Commands, error_id)
  }
}

function deed(key: string, days_ago: number, act: Deed['act']): Deed {
  return { key, days_ago, act }
}

function assign(assigned_to: string, actor: string): Deed['act'] {
  return ({ AssignError }, error_id) => AssignError.call({ error_id, assigned_to, actor })
}

function priority(priority_level: number, actor: string): Deed['act'] {
  return ({ UpdatePriority }, error_id) => UpdatePriority.call({ error_id, priority_level, actor })
}

function comment(author_name: string, body: string): Deed['act'] {
  return ({ AddComment }, error_id) => AddComment.call({ error_id, author_name, body })
}

function status(to: string, actor: string, why?: string): Deed['act'] {
  return ({ UpdateStatus }, error_id) => UpdateStatus.call({ error_id, status: to, actor, comment: why })
}

function snooze(hours: number, reason: string, actor: string): Deed['act'] {
  return ({ SnoozeError }, error_id) => SnoozeError.call({ error_id, hours, reason, actor })
}

function resolve(resolved_by: string, resolution_comment: string, resolution_reference?: string): Deed['act'] {
  return ({ ResolveError }, error_id) =>
    ResolveError.call({ error_id, resolved_by, resolution_comment, resolution_reference })
}
