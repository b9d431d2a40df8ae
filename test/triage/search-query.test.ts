import { expect, test } from 'vitest'
import type { LogErrorInput } from '../../src/capture/fields.js'
import { perform } from '../../src/operation.js'
import { assignError } from '../../src/triage/commands/assign-error.js'
import { errorsPage } from '../../src/triage/list/errors-list.js'
import { errorChanges } from '../../src/triage/queries/error-changes.js'
import { describeEachDatabase, type TestDatabase } from '../support/databases.js'
import { freshTracker, NOON, trackerAt } from '../support/tracker.js'
import { addGroups, listContext } from './list-context.js'

const HOUR = 3_600_000

const ERRORS: Record<string, Partial<LogErrorInput>> = {
  PaymentDeclinedError: {
    message: 'Card declined: insufficient funds, 50% of accounts',
    backtrace: ['at charge (/srv/shop/src/payment.ts:1:1)'],
    platform: 'ios',
    app_version: '5.12.0',
    user_id: 'usr_104',
    request_url: 'https://shop.example/checkout/8812?coupon=X',
    tags: { city: 'New York', payment_provider: 'northpay' },
  },
  PaymentTimeout: {
    message: 'Provider timed out',
    platform: 'Web',
    app_version: '5.12.1',
    user_id: '42',
    request_url: '/api/v2/payments',
    tags: { city: 'Berlin', retries: 3 },
  },
  TypeError: {
    message: `Cannot read properties of undefined (reading 'x')`,
    platform: 'Web',
    app_version: '5.120.0',
    user_id: 42,
    request_url: '/cart',
  },
  Plain: { message: 'No request, no user' },
}

async function setUp(database: TestDatabase) {
  const started = await freshTracker(database)
  const { tracker } = started
  const ids: Record<string, number> = {}
  await Promise.all(
    Object.entries(ERRORS).map(async ([error_type, fields]) => {
      ids[error_type] = (await tracker.Commands.LogError.call({ error_type, ...fields }))?.id ?? 0
    }),
  )
  const found = async (query: string) =>
    (await tracker.Queries.ErrorsList.call({ query }))
      .map(({ error_type }) => error_type)
      .sort()
      .join(' ')
  return { ...started, found, idOf: (name: string) => ids[name] ?? 0 }
}

describeEachDatabase('the search query', (database) => {
  test('finds errors by words, phrases and keys, all of which must match', async () => {
    const { found } = await setUp(database)
    for (const [query, names] of [
      ['PaymentDeclined insufficient', 'PaymentDeclinedError'],
      ['insufficient paymentdeclined CARD', 'PaymentDeclinedError'],
      ['PaymentDeclined absent', ''],
      ['"insufficient funds"', 'PaymentDeclinedError'],
      ['"funds insufficient"', ''],
      ['50%', 'PaymentDeclinedError'],
      ['%', 'PaymentDeclinedError'],
      ['Payment*', 'PaymentDeclinedError PaymentTimeout'],
      ['payment.ts', 'PaymentDeclinedError'],
      ['(reading', 'TypeError'],
      ['TypeError: x', ''],
      ['-payment', 'Plain TypeError'],
      ['payment -timed', 'PaymentDeclinedError'],
      ['-payment -"no user"', 'TypeError'],
      // Words shorter than a trigram.
      ['x', 'TypeError'],
      ['no us', 'Plain'],
      ['-no', 'PaymentTimeout'],
      // User ids, URLs and tags.
      ['usr_104', 'PaymentDeclinedError'],
      ['usr_10', ''],
      ['42', 'PaymentTimeout TypeError'],
      ['user:42', 'PaymentTimeout TypeError'],
      ['user:42 -type:TypeError', 'PaymentTimeout'],
      ['-user:42', 'PaymentDeclinedError Plain'],
      ['/checkout', 'PaymentDeclinedError'],
      ['northpay', 'PaymentDeclinedError'],
      ['northpay declined usr_104', 'PaymentDeclinedError'],
      ['url:/checkout', 'PaymentDeclinedError'],
      ['url:/checkout/4711', 'PaymentDeclinedError'],
      ['url:https://other.example/CHECKOUT/1?x=1', 'PaymentDeclinedError'],
      ['url:/api/*/payments', 'PaymentTimeout'],
      ['url:/api/*/orders', ''],
      ['-url:/cart', 'PaymentDeclinedError PaymentTimeout Plain'],
      ['url:northpay', ''],
      ['tag:city=Berlin', 'PaymentTimeout'],
      ['tag:city="new york"', 'PaymentDeclinedError'],
      ['tag:city=new', ''],
      ['tag:city=new*', 'PaymentDeclinedError'],
      ['tag:city', 'PaymentDeclinedError PaymentTimeout'],
      ['tag:cit', ''],
      ['tag:retries=3', 'PaymentTimeout'],
      ['tag:city -tag:retries=3', 'PaymentDeclinedError'],
      ['platform:ios', 'PaymentDeclinedError'],
      ['platform:web -platform:ios type:*timeout', 'PaymentTimeout'],
      ['release:5.12', 'PaymentDeclinedError PaymentTimeout'],
      ['version:5', 'PaymentDeclinedError PaymentTimeout TypeError'],
      ['-release:5.12', 'Plain TypeError'],
      ['release:5.1', ''],
      ['release:5.12*', 'PaymentDeclinedError PaymentTimeout TypeError'],
      ['release:5.12.1', 'PaymentTimeout'],
      ['-release:5.12.*', 'Plain TypeError'],
      ['type:Payment*', 'PaymentDeclinedError PaymentTimeout'],
      ['type:payment*error', 'PaymentDeclinedError'],
      ['type:Payment', ''],
      ['type:plain', 'Plain'],
      ['type:"Payment*"', ''],
      ['-type:Payment*', 'Plain TypeError'],
      ['user:42 release:5.12* platform:Web url:/api is:unresolved type:Payment*', 'PaymentTimeout'],
    ] as const)
      expect(await found(query), query).toBe(names)
  })

  test('finds errors by severity, priority, assignee and application', async () => {
    const { tracker, found, idOf, url, spool_path } = await setUp(database)
    const { Commands } = tracker
    await Commands.AssignError.call({ error_id: idOf('PaymentTimeout'), assigned_to: 'ada lovelace' })
    await Commands.UpdatePriority.call({ error_id: idOf('Plain'), priority_level: 3 })
    await Commands.UpdateStatus.call({ error_id: idOf('Plain'), status: 'investigating' })
    const billing = trackerAt({ url, spool_path: `${spool_path}-2` }, { application_name: 'Back-Office' }).tracker
    await billing.Commands.LogError.call({ error_type: 'Other', message: 'x', app_version: '5.12-rc.1' })
    await billing.shutdown()
    for (const [query, names] of [
      ['severity:high', 'TypeError'],
      ['severity:HIGH -type:TypeError', ''],
      ['priority:high', 'Plain'],
      ['assigned:"ada lovelace"', 'PaymentTimeout'],
      ['-assigned:"ada lovelace" payment', 'PaymentDeclinedError'],
      ['app:back-office', 'Other'],
      ['app:back*', 'Other'],
      ['-app:back-office plain', 'Plain'],
      // A prerelease is another version.
      ['release:5.12 app:back-office', ''],
      ['release:5.12-rc', 'Other'],
    ] as const)
      expect(await found(query), query).toBe(names)
  })

  test('keeps `search` literal, without URLs, tags and users', async () => {
    const { tracker } = await setUp(database)
    const count = async (search: string) => (await tracker.Queries.ErrorsList.call({ search })).length
    expect(await count('card declined')).toBe(1)
    for (const search of ['/checkout', 'northpay', 'usr_104', 'user:42', '-payment', 'declined insufficient'])
      expect(await count(search), search).toBe(0)
    const both = await tracker.Queries.ErrorsList.call({ search: 'provider', query: 'user:42' })
    expect(both.map(({ error_type }) => error_type)).toEqual(['PaymentTimeout'])
  })

  test('finds errors by their state', async () => {
    const { tracker, found, idOf, clock } = await setUp(database)
    const { Commands } = tracker
    await Commands.ResolveError.call({ error_id: idOf('Plain') })
    await Commands.UpdateStatus.call({ error_id: idOf('TypeError'), status: 'wont_fix' })
    await Commands.UpdateStatus.call({ error_id: idOf('PaymentTimeout'), status: 'in_progress' })
    await Commands.SnoozeError.call({ error_id: idOf('PaymentTimeout'), hours: 2 })
    await Commands.MuteError.call({ error_id: idOf('PaymentDeclinedError'), hours: 1 })
    await Commands.AssignError.call({ error_id: idOf('PaymentTimeout'), assigned_to: 'ada' })
    for (const [query, names] of [
      ['is:unresolved', 'PaymentDeclinedError PaymentTimeout'],
      ['is:resolved', 'Plain TypeError'],
      ['-is:resolved', 'PaymentDeclinedError PaymentTimeout'],
      ['is:new', 'PaymentDeclinedError'],
      ['is:investigating', ''],
      ['is:in_progress', 'PaymentTimeout'],
      ['is:wont_fix', 'TypeError'],
      ['is:snoozed', 'PaymentTimeout'],
      ['-is:snoozed', 'PaymentDeclinedError Plain TypeError'],
      ['is:muted', 'PaymentDeclinedError'],
      ['-is:muted', 'PaymentTimeout Plain TypeError'],
      ['is:assigned', 'PaymentTimeout'],
      ['is:unassigned', 'PaymentDeclinedError Plain TypeError'],
      ['is:regressed', ''],
      ['is:unresolved is:unassigned payment', 'PaymentDeclinedError'],
    ] as const)
      expect(await found(query), query).toBe(names)
    clock.now = NOON + 3 * HOUR
    expect(await found('is:snoozed')).toBe('')
    expect(await found('is:muted')).toBe('')
    await Commands.LogError.call({ error_type: 'Plain', ...ERRORS.Plain })
    expect(await found('is:regressed')).toBe('Plain')
    expect(await found('-is:regressed is:unresolved')).toBe('PaymentDeclinedError PaymentTimeout')
  })

  test('finds every URL and tag of an error, up to a limit', async () => {
    const { tracker, found } = await setUp(database)
    const log = (request_url: string, tags: Record<string, unknown>) =>
      tracker.Commands.LogError.call({ error_type: 'TypeError', ...ERRORS.TypeError, request_url, tags })
    for (let i = 0; i < 60; i++) await log(`/page-${'abcdefghijklmnopqrstuvwxyzABCD'[i % 30]}`, { number: `n${i}n` })
    await log('/cart', { number: 'n1n' })
    expect(await found('url:/cart')).toBe('TypeError')
    expect(await found('url:/page-b tag:number=n1n')).toBe('TypeError')
    // The first URL is /cart.
    expect(await found('url:/page-s')).toBe('TypeError')
    expect(await found('url:/page-z')).toBe('')
    expect(await found('tag:number=n49n')).toBe('TypeError')
    expect(await found('tag:number=n50n')).toBe('')
    expect(await found('n19n')).toBe('TypeError')
    expect(await found('n25n')).toBe('')
  })

  test('combines common words in list order, and counts them up to a limit', async () => {
    const { context, run } = await listContext(database)
    await addGroups(context, 2400, (i) => ({
      error_type: `Type${i % 7}`,
      text: `shared ${i % 3 ? 'most' : 'third'} text ${i}${i % 1200 === 3 ? ' needle' : ''}`,
    }))
    const page = (query: string) => perform(errorsPage, context, { query, per_page: 5 })
    const common = await page('shared text')
    expect(common.pagination).toMatchObject({ total_count: 1000, total_is_lower_bound: true })
    expect(common.errors.map(({ message }) => message.slice(0, 6))).toEqual(Array(5).fill('shared'))
    expect((await page('shared third')).pagination.total_count).toBe(800)
    expect((await page('shared -most')).pagination.total_count).toBe(800)
    expect((await page('shared third most')).pagination.total_count).toBe(0)
    expect((await page('shared te needle')).pagination.total_count).toBe(2)
    expect((await page('-needle')).pagination).toMatchObject({ total_count: 1000, total_is_lower_bound: true })
    expect((await page('shared type:Type3')).pagination.total_count).toBe(343)
    const [first] = common.errors
    await run(assignError, { error_id: first?.id, assigned_to: 'ada' })
    expect((await page('shared text is:assigned')).errors.map(({ id }) => id)).toEqual([first?.id])
    // Live updates count the new errors that match.
    const changes = async (query: string) => (await run(errorChanges, { query, since: NOON - HOUR })).new_count
    expect(await changes('shared needle')).toBe(2)
    expect(await changes('is:assigned')).toBe(1)
    expect(await changes('-shared')).toBe(0)
  })
})
