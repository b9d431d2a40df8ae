import { expect, test } from 'vitest'
import { describeEachDatabase } from '../support/databases.js'
import { freshTracker } from '../support/tracker.js'

const MESSAGES: Record<string, string> = {
  Percent: 'Discount of 50% failed',
  Plain: 'Discount of 50 euros failed',
  Underscore: 'Column user_id missing',
  Letter: 'Column userXid missing',
  Exclamation: 'Stop! Now',
  Backslash: 'No file C:\\shop\\data',
  Quotes: `She said "no" and 'never'`,
  Accent: 'GRÖSSE nicht gefunden: Größe ÉTÉ',
  Cyrillic: 'Ошибка оплаты',
  Emoji: 'Broken heart 💔 here',
  Brackets: 'Value [a-z] {x} (y) ^$.*+?|',
}

describeEachDatabase('literal search', (database) => {
  test('matches message and backtrace regardless of case', async () => {
    const { tracker } = await freshTracker(database)
    for (const [error_type, message] of Object.entries(MESSAGES))
      await tracker.Commands.LogError.call({
        error_type,
        message,
        backtrace: [`at handle${error_type} (/srv/${error_type}.ts:1:1)`],
      })
    const found = async (search: string) =>
      (await tracker.Queries.ErrorsList.call({ search }))
        .map(({ error_type }) => error_type)
        .sort()
        .join(' ')

    for (const [search, names] of [
      ['50%', 'Percent'],
      ['%', 'Percent'],
      ['user_id', 'Underscore'],
      ['_', 'Underscore'],
      ['!', 'Exclamation'],
      ['!n', ''],
      ['stop! now', 'Exclamation'],
      ['\\', 'Backslash'],
      ['C:\\shop\\', 'Backslash'],
      ['c:\\SHOP', 'Backslash'],
      ['"no"', 'Quotes'],
      ["'never'", 'Quotes'],
      ["' or 1=1 --", ''],
      ['DISCOUNT OF', 'Percent Plain'],
      ['größe', 'Accent'],
      ['GRÖßE', 'Accent'],
      ['été', 'Accent'],
      ['ete', ''],
      ['ОШИБКА', 'Cyrillic'],
      ['💔', 'Emoji'],
      ['❤', ''],
      ['[a-z]', 'Brackets'],
      ['.*', 'Brackets'],
      ['?', 'Brackets'],
      ['q', 'Quotes'],
      ['handlePercent', 'Percent'],
      ['/SRV/plain.ts', 'Plain'],
      ['no such text', ''],
      ['\0', ''],
      ['\uD800', ''],
      ['x'.repeat(100_000), ''],
      ['  50%  ', 'Percent'],
    ] as const)
      expect(await found(search), search).toBe(names)
    expect((await found('')).split(' ')).toHaveLength(Object.keys(MESSAGES).length)
  })

  test('combines search with other filters and pages', async () => {
    const { tracker } = await freshTracker(database)
    for (const platform of ['Web', 'iOS', 'Android'])
      for (const error_type of ['CartError', 'MailError'])
        await tracker.Commands.LogError.call({ error_type, message: `Lost in ${platform}`, platform })
    const page = await tracker.Queries.ErrorsList.page({
      search: 'LOST',
      error_type: 'CartError',
      per_page: 2,
      sort_by: 'platform',
    })
    expect(page.pagination).toEqual({ page: 1, per_page: 2, total_count: 3, total_pages: 2 })
    expect(await tracker.Queries.ErrorsList.call({ search: 'web', error_type: 'CartError' })).toHaveLength(1)
  })
})
