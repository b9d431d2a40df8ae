import { expect, test } from 'vitest'
import { describeOneDatabase } from '../../support/databases.js'
import { verifiedCounts } from '../../support/stored-counts.js'
import { freshTracker, NOON } from '../../support/tracker.js'

describeOneDatabase('storm guard', (database) => {
  test('counts every occurrence but stores fewer of them in full', async () => {
    const { tracker, url } = await freshTracker(database, { max_full_occurrences_per_minute: 20 })
    const calls = Array.from({ length: 1000 }, (_, i) =>
      tracker.Commands.LogError.call({ error_type: 'Storm', message: 'again', user_id: i % 7, context: { i } }),
    )
    expect((await Promise.all(calls)).map((logged) => logged?.occurrence_count)).toEqual(calls.map((_, i) => i + 1))
    const { counts, rows } = await verifiedCounts(url)
    expect(Object.values(counts)).toEqual([1000])
    // 20 in full, then one in 10 up to 200, then one in 100.
    expect(rows).toBe(20 + 18 + 8)
    expect((await tracker.stats()).dropped).toEqual({ storm_counted_only: 1000 - rows })
  })

  test('restarts every minute and limits each error separately', async () => {
    const { tracker, clock, url } = await freshTracker(database, { max_full_occurrences_per_minute: 2 })
    for (const error_type of ['A', 'A', 'B', 'A']) await tracker.Commands.LogError.call({ error_type, message: 'm' })
    expect((await tracker.stats()).dropped).toEqual({ storm_counted_only: 1 })
    clock.now = NOON + 60_000
    await tracker.Commands.LogError.call({ error_type: 'A', message: 'm' })
    expect((await tracker.stats()).dropped).toEqual({ storm_counted_only: 1 })
    expect(Object.values((await verifiedCounts(url)).counts).sort()).toEqual([1, 4])
  })
})

describeOneDatabase('flood guard for messages', (database) => {
  test('groups changing messages of one location beyond the limit', async () => {
    const { tracker, url } = await freshTracker(database, { max_groups_per_place: 10 })
    const word = (i: number) => String.fromCharCode(97 + (i % 26), 97 + (Math.floor(i / 26) % 26))
    for (let i = 0; i < 100; i++) {
      await tracker.Commands.LogError.call({ error_type: 'Flood', message: `no such thing: ${word(i)}` })
    }
    await tracker.Commands.LogError.call({ error_type: 'Other', message: 'is not concerned' })
    // One of the first ten messages still has its own group.
    await tracker.Commands.LogError.call({ error_type: 'Flood', message: `no such thing: ${word(3)}` })
    expect((await verifiedCounts(url)).counts).toMatchObject({ 'shop Flood': 101 })
    const groups = await tracker.Queries.ErrorsList.call({ per_page: 100 })
    expect(groups.map(({ occurrence_count }) => occurrence_count).sort((a, b) => a - b)).toEqual([
      ...Array(10).fill(1),
      2,
      90,
    ])
    expect((await tracker.stats()).dropped).toEqual({ flood_shares_a_group: 90 })
  })
})

describeOneDatabase('flood guard for types', (database) => {
  test('groups changing types of one location beyond the limit', async () => {
    const { tracker, url } = await freshTracker(database, { max_groups_per_place: 10 })
    const reportNamed = (name: string) => tracker.report(Object.assign(new Error('declined'), { name }))
    for (let i = 0; i < 100; i++)
      await reportNamed(`Code${String.fromCharCode(97 + (i % 26), 97 + Math.floor(i / 26))}`)
    // An early type keeps its own group.
    await reportNamed('Codeaa')
    const groups = await tracker.Queries.ErrorsList.call({ per_page: 100 })
    expect(groups).toHaveLength(11)
    expect(groups.find(({ error_type }) => error_type === 'ManyErrorTypes')).toMatchObject({
      occurrence_count: 90,
      message: expect.stringMatching(/^Code[a-z]{2}: declined$/),
    })
    expect((await verifiedCounts(url)).counts).toMatchObject({ 'shop ManyErrorTypes': 90, 'shop Codeaa': 2 })
  })
})

describeOneDatabase('flood guard for errors without a location', (database) => {
  test('groups changing types beyond five times the limit', async () => {
    const { tracker, url } = await freshTracker(database, { max_groups_per_place: 10 })
    const letters = (n: number) => String.fromCharCode(97 + (n % 26), 97 + Math.floor(n / 26))
    for (let n = 0; n < 600; n++) {
      await tracker.Commands.LogError.call({ error_type: `Kind${letters(n)}`, message: 'declined' })
    }
    expect((await tracker.Queries.ErrorsList.page({})).pagination.total_count).toBe(51)
    expect((await verifiedCounts(url)).counts).toMatchObject({ 'shop ManyErrorTypes': 550, 'shop Kindaa': 1 })
  })
})

describeOneDatabase('lag guard', (database) => {
  test('omits details but counts every occurrence while the event loop lags', async () => {
    const { tracker } = await freshTracker(database, { max_event_loop_lag_ms: 200 })
    const record = () => tracker.report(new Error('late'), { context: { size: 1 }, tags: { a: 'b' } })
    const before = record()
    for (const until = performance.now() + 400; performance.now() < until; );
    const late = await record()
    await before
    expect(late?.occurrence_count).toBe(2)
    expect((await tracker.stats()).dropped).toEqual({ lag_left_out_details: 1 })
    const found = await tracker.Queries.FindError.call({ error_id: late?.id ?? 0 })
    expect(found).toMatchObject({ context: {}, tags: {}, message: 'late' })
    expect(found.details).toMatchObject({ details_omitted: 'event_loop_lag' })
    expect(found.backtrace.length).toBeGreaterThan(0)
  })
})
