import { DAY } from '../../model/time.js'
import type { TrackerInstance } from '../../tracker.js'
import { TEAM } from './people.js'

/** One command that a member of the sample team executed. */
interface TriageStep {
  /** The key of the sample error. */
  readonly error: string
  readonly days_ago: number
  readonly command: 'AssignError' | 'UpdatePriority' | 'AddComment' | 'UpdateStatus' | 'SnoozeError' | 'ResolveError'
  readonly input: Readonly<Record<string, string | number>>
}

const [AMARA, JONAS, MEI, RAFAEL, PRIYA, ELODIE] = TEAM

/** Triage history of the sample errors. Resolutions take 1 to 9 days. */
export const STEPS: readonly TriageStep[] = [
  { error: 'render-hydration', days_ago: 43.8, command: 'AssignError', input: { assigned_to: MEI, actor: PRIYA } },
  { error: 'render-hydration', days_ago: 43.6, command: 'UpdatePriority', input: { priority_level: 4, actor: PRIYA } },
  {
    error: 'render-hydration',
    days_ago: 43.2,
    command: 'AddComment',
    input: {
      author_name: MEI,
      body: 'PriceTag has received the whole price object since the currency change. Fix in review.',
    },
  },
  {
    error: 'render-hydration',
    days_ago: 41.9,
    command: 'ResolveError',
    input: {
      resolved_by: MEI,
      resolution_comment: 'PriceTag now formats the price.',
      resolution_reference: 'https://git.example/larder/storefront/pull/812',
    },
  },
  { error: 'android-npe', days_ago: 45, command: 'AssignError', input: { assigned_to: RAFAEL, actor: JONAS } },
  {
    error: 'android-npe',
    days_ago: 41,
    command: 'AddComment',
    input: {
      author_name: RAFAEL,
      body: 'Slots without a label come from the new warehouse in Linz. Guarded in 8.4.1.',
    },
  },
  {
    error: 'android-npe',
    days_ago: 38.5,
    command: 'ResolveError',
    input: {
      resolved_by: RAFAEL,
      resolution_comment: 'Skip slots without a label.',
      resolution_reference: 'https://git.example/larder/android/pull/377',
    },
  },
  { error: 'feature-flag', days_ago: 45.5, command: 'UpdatePriority', input: { priority_level: 3, actor: ELODIE } },
  {
    error: 'feature-flag',
    days_ago: 38.8,
    command: 'ResolveError',
    input: { resolved_by: ELODIE, resolution_comment: 'Initialize the flags client before the routes.' },
  },
  { error: 'coupon-loop', days_ago: 43.2, command: 'AssignError', input: { assigned_to: AMARA, actor: AMARA } },
  {
    error: 'coupon-loop',
    days_ago: 41.8,
    command: 'ResolveError',
    input: {
      resolved_by: AMARA,
      resolution_comment: 'Reject coupons that grant themselves.',
      resolution_reference: 'https://git.example/larder/storefront/pull/811',
    },
  },
  {
    error: 'csv-bom',
    days_ago: 32.9,
    command: 'ResolveError',
    input: { resolved_by: PRIYA, resolution_comment: 'Skip the byte order mark.' },
  },
  { error: 'discount-nan', days_ago: 29.4, command: 'UpdatePriority', input: { priority_level: 4, actor: JONAS } },
  {
    error: 'discount-nan',
    days_ago: 29.2,
    command: 'AddComment',
    input: { author_name: JONAS, body: 'Coupons with spaces. Rolling out 2.33.1 tonight.' },
  },
  {
    error: 'discount-nan',
    days_ago: 26.9,
    command: 'ResolveError',
    input: {
      resolved_by: JONAS,
      resolution_comment: 'Trim coupon codes before the lookup.',
      resolution_reference: 'https://git.example/larder/orders/pull/1290',
    },
  },
  { error: 'ios-watchdog', days_ago: 20, command: 'AssignError', input: { assigned_to: RAFAEL, actor: ELODIE } },
  {
    error: 'ios-watchdog',
    days_ago: 14.6,
    command: 'ResolveError',
    input: { resolved_by: RAFAEL, resolution_comment: 'Decode the catalog off the main thread.' },
  },
  {
    error: 'report-heap',
    days_ago: 10.8,
    command: 'ResolveError',
    input: { resolved_by: PRIYA, resolution_comment: 'Stream the rows.' },
  },
  {
    error: 'cookie-json',
    days_ago: 5.9,
    command: 'ResolveError',
    input: { resolved_by: MEI, resolution_comment: 'Treat unreadable cookies as empty.' },
  },
  {
    error: 'cache-refused',
    days_ago: 1.9,
    command: 'ResolveError',
    input: { resolved_by: JONAS, resolution_comment: 'Read prices from the database while the cache restarts.' },
  },

  {
    error: 'product-missing',
    days_ago: 40,
    command: 'UpdateStatus',
    input: {
      status: 'wont_fix',
      actor: AMARA,
      comment: 'Crawlers with old links. The 404 is correct.',
    },
  },
  {
    error: 'upload-large',
    days_ago: 35,
    command: 'UpdateStatus',
    input: { status: 'wont_fix', actor: AMARA, comment: 'The form states the limit of 5 MB.' },
  },
  {
    error: 'ios-offline',
    days_ago: 50,
    command: 'UpdateStatus',
    input: { status: 'wont_fix', actor: RAFAEL, comment: 'Phones lose their connection. The app retries.' },
  },

  {
    error: 'deadlock',
    days_ago: 33,
    command: 'ResolveError',
    input: { resolved_by: JONAS, resolution_comment: 'Lock stock rows in SKU order.' },
  },
  {
    error: 'deadlock',
    days_ago: 21,
    command: 'UpdateStatus',
    input: { status: 'investigating', actor: JONAS, comment: 'Regression: transfers take a third lock.' },
  },
  { error: 'deadlock', days_ago: 20.5, command: 'AssignError', input: { assigned_to: JONAS, actor: PRIYA } },

  { error: 'pool-exhausted', days_ago: 7.9, command: 'UpdatePriority', input: { priority_level: 4, actor: PRIYA } },
  { error: 'pool-exhausted', days_ago: 7.9, command: 'AssignError', input: { assigned_to: PRIYA, actor: PRIYA } },
  {
    error: 'pool-exhausted',
    days_ago: 7.8,
    command: 'AddComment',
    input: {
      author_name: PRIYA,
      body: 'The orders report held every connection that morning. See the statement timeouts.',
    },
  },
  { error: 'pool-exhausted', days_ago: 6.2, command: 'UpdateStatus', input: { status: 'in_progress', actor: PRIYA } },
  {
    error: 'pool-exhausted',
    days_ago: 6,
    command: 'AddComment',
    input: {
      author_name: JONAS,
      body: 'ReservationExpiredError follows each of these within a minute, so this is the root cause.',
    },
  },
  { error: 'statement-timeout', days_ago: 7.7, command: 'AssignError', input: { assigned_to: JONAS, actor: PRIYA } },
  {
    error: 'statement-timeout',
    days_ago: 5.1,
    command: 'UpdateStatus',
    input: { status: 'investigating', actor: JONAS },
  },
  { error: 'checkout-failed', days_ago: 6.5, command: 'UpdatePriority', input: { priority_level: 3, actor: MEI } },
  { error: 'checkout-failed', days_ago: 6.4, command: 'AssignError', input: { assigned_to: MEI, actor: AMARA } },
  {
    error: 'payment-timeout',
    days_ago: 6.4,
    command: 'AddComment',
    input: { author_name: MEI, body: 'Asked the provider. They see a slow route from our region.' },
  },
  {
    error: 'payment-timeout',
    days_ago: 3,
    command: 'SnoozeError',
    input: { hours: 24 * 10, reason: 'The provider is switching to another route', actor: MEI },
  },
  { error: 'locale-import', days_ago: 1.2, command: 'UpdatePriority', input: { priority_level: 3, actor: AMARA } },
  { error: 'locale-import', days_ago: 1.1, command: 'AssignError', input: { assigned_to: MEI, actor: AMARA } },
  { error: 'locale-import', days_ago: 0.9, command: 'UpdateStatus', input: { status: 'in_progress', actor: MEI } },
  { error: 'lines-undefined', days_ago: 2, command: 'AssignError', input: { assigned_to: JONAS, actor: ELODIE } },
  { error: 'dunning-date', days_ago: 4, command: 'UpdatePriority', input: { priority_level: 2, actor: PRIYA } },
  { error: 'ledger-balance', days_ago: 3.2, command: 'UpdatePriority', input: { priority_level: 4, actor: ELODIE } },
  { error: 'ledger-balance', days_ago: 3.1, command: 'AssignError', input: { assigned_to: ELODIE, actor: ELODIE } },
  {
    error: 'ledger-balance',
    days_ago: 2.8,
    command: 'AddComment',
    input: { author_name: ELODIE, body: 'Rounding error for refunds in two currencies. Finance has been notified.' },
  },
  {
    error: 'webhook-retry',
    days_ago: 9,
    command: 'SnoozeError',
    input: { hours: 24 * 30, reason: 'The accounting system migrates next month', actor: PRIYA },
  },
  { error: 'android-anr', days_ago: 12, command: 'AssignError', input: { assigned_to: RAFAEL, actor: ELODIE } },
  {
    error: 'ios-basket-index',
    days_ago: 11,
    command: 'UpdateStatus',
    input: { status: 'investigating', actor: RAFAEL },
  },
  { error: 'vat-rate', days_ago: 13, command: 'UpdatePriority', input: { priority_level: 1, actor: ELODIE } },
  {
    error: 'mail-refused',
    days_ago: 16,
    command: 'SnoozeError',
    input: { hours: 24 * 60, reason: 'The new sign-up will validate addresses', actor: ELODIE },
  },
  // Errors without a page in the shop have an assignee, so that the first errors of the overview can be explored.
  { error: 'session-store', days_ago: 10, command: 'AssignError', input: { assigned_to: MEI, actor: AMARA } },
  { error: 'android-oom', days_ago: 18, command: 'AssignError', input: { assigned_to: RAFAEL, actor: ELODIE } },
  { error: 'disk-full', days_ago: 5, command: 'AssignError', input: { assigned_to: PRIYA, actor: PRIYA } },
  { error: 'reservation-lost', days_ago: 6, command: 'AssignError', input: { assigned_to: JONAS, actor: PRIYA } },
  { error: 'customer-missing', days_ago: 9, command: 'AssignError', input: { assigned_to: ELODIE, actor: PRIYA } },
  { error: 'orders-upstream', days_ago: 14, command: 'AssignError', input: { assigned_to: RAFAEL, actor: RAFAEL } },
  { error: 'cart-weight', days_ago: 12, command: 'AssignError', input: { assigned_to: AMARA, actor: AMARA } },
  { error: 'dunning-date', days_ago: 3.9, command: 'AssignError', input: { assigned_to: PRIYA, actor: PRIYA } },
  { error: 'ios-nil', days_ago: 22, command: 'AssignError', input: { assigned_to: RAFAEL, actor: ELODIE } },
  { error: 'ios-basket-index', days_ago: 11.2, command: 'AssignError', input: { assigned_to: RAFAEL, actor: RAFAEL } },
  { error: 'invoice-pdf', days_ago: 17, command: 'AssignError', input: { assigned_to: ELODIE, actor: PRIYA } },
]

/** Executes the triage history. `setTime` moves the clock of the tracker, so that the activity trail has the right dates. */
export async function triage(
  { Commands }: TrackerInstance,
  ids: ReadonlyMap<string, number>,
  now: number,
  setTime: (time: number) => void,
): Promise<void> {
  for (const { error, days_ago, command, input } of STEPS) {
    const error_id = ids.get(error)
    if (error_id === undefined) continue
    setTime(now - days_ago * DAY)
    const operation = Commands[command] as { call(input: object): Promise<unknown> }
    await operation.call({ error_id, ...input })
  }
}

const VIEWS = [
  ['Critical and unassigned', 'severity=critical&assigned_to=__unassigned__&unresolved=true'],
  ['Checkout', 'search=order'],
  ['Unresolved in 5.13.0', 'unresolved=true&app_version=5.13.0'],
] as const

/** Saves the views of the team. */
export async function saveViews({ Commands }: TrackerInstance): Promise<void> {
  for (const [name, query] of VIEWS) await Commands.SaveView.call({ name, query, created_by: PRIYA })
}
