import { expect, onTestFinished, test } from 'vitest'
import { describeEachDatabase } from '../support/databases.js'
import { type Host, startHost } from '../support/host.js'

interface Suggestions {
  tags: string[]
  has_more_values: boolean
}

describeEachDatabase('tags', (database) => {
  async function setUp(): Promise<Host & { types(query: string): Promise<string> }> {
    const host = await startHost(await database.fresh())
    onTestFinished(() => host.close())
    const types = async (query: string) => {
      const { errors } = (await host.json(`/errors.json?${query}`)) as unknown as { errors: { error_type: string }[] }
      return errors
        .map(({ error_type }) => error_type)
        .sort()
        .join(' ')
    }
    return { ...host, types }
  }

  test('tags filter the list regardless of case, and repeated tags must all match', async () => {
    const { tracker, types, get, post } = await setUp()
    const log = (error_type: string, tags: Record<string, unknown>) =>
      tracker.Commands.LogError.call({ error_type, message: 'x', tags })
    await log('A', { city: 'Berlin', plan: 'pro' })
    await log('B', { city: 'Berlin', plan: 'free' })
    await log('C', { city: 'New  York', retries: 3 })
    await log('D', { 'aws:region': 'eu-1', 'k=v': 'a=b', path: 'C:\\Program Files' })
    for (const [query, names] of [
      ['tag=city:Berlin', 'A B'],
      ['tag=CITY:berlin', 'A B'],
      ['tag=city:Berlin&tag=plan:pro', 'A'],
      ['tag[]=city:Berlin&tag[]=plan:free', 'B'],
      ['tag=city:new+york', 'C'],
      ['tag=city', 'A B C'],
      ['tag=retries:3', 'C'],
      ['tag=city:ber', ''],
      ['tag=city:%25', ''],
      ['tag=', 'A B C D'],
      ['tag=aws:region:eu-1', 'D'],
      ['tag=aws:region', 'D'],
      ['tag=aws:region:us-1', ''],
      ['tag=k%3Dv:a%3Db', 'D'],
      ['tag=path:C:%5CProgram+Files', 'D'],
      ['query=tag:aws:region%3Deu-*', 'D'],
      ['query=tag:k%3Dv%3Da%3Db', 'D'],
      ['query=tag:path%3D"C:%5C%5CProgram+Files"', 'D'],
      ['query=-tag:aws:region', 'A B C'],
      ['tag=plan:pro&tag=plan:free', ''],
      ['tag=city:Berlin&query=-tag:plan%3Dpro', 'B'],
      ['query=tag:city%3Dber*', 'A B'],
      ['query=tag:cit*', 'A B C'],
      ['query=-tag:city%3Dberlin', 'C D'],
    ])
      expect(await types(query ?? ''), query).toBe(names)

    const page = await (await get('/errors?tag=city:Berlin&tag=plan:pro')).text()
    expect(page.match(/<bdi>(city:Berlin|plan:pro)<\/bdi>/g)).toHaveLength(2)
    expect(page).toContain('/errors?tag=plan%3Apro"')
    const saved = await post('/saved_views', { name: 'Berlin', list_query: 'tag=city:Berlin&tag=plan:free' })
    expect(await types(saved.headers.get('location')?.split('?')[1] ?? '')).toBe('B')
    expect((await get('/errors.json?tag=:x')).status).toBe(422)
    expect((await get(`/errors.json?${'tag=a:b&tag=c:d&'.repeat(30)}`)).status).toBe(200)
    const tooMany = Array.from({ length: 11 }, (_, i) => `tag=a:${i}`).join('&')
    expect((await get(`/errors.json?${tooMany}`)).status).toBe(422)
  })

  test('tags are linked in the form that filters find', async () => {
    const { tracker, types, get } = await setUp()
    const tags = {
      'aws:region': 'eu-1',
      lines: 'a\nb',
      ['k'.repeat(150)]: 'v'.repeat(500),
      list: ['x', 1],
      empty: '',
      'My  Order': 'o0',
    }
    const error = await tracker.Commands.LogError.call({ error_type: 'Linked', message: 'x', tags })
    for (let i = 1; i < 60; i++)
      await tracker.Commands.LogError.call({
        error_type: 'Linked',
        message: 'x',
        tags: { ...tags, 'My  Order': `o${i}` },
      })
    await tracker.Commands.LogError.call({ error_type: 'Linked', message: 'x', tags })
    await tracker.Commands.LogError.call({ error_type: 'Other', message: 'x', tags: { aws: 'region' } })
    const page = await (await get(`/errors/${error?.id}`)).text()
    const links = [...page.matchAll(/<a href="[^"?]*\/errors\?(tag=[^"]*)"/g)].map((match) => match[1] ?? '')
    expect(links).toHaveLength(5)
    for (const link of links) expect(await types(link), link).toBe('Linked')
    expect(page).toMatch(/Too many values: .* for <bdi>My Order<\/bdi>/i)
    const last = { ...tags, 'My  Order': 'o59' }
    await tracker.Commands.LogError.call({ error_type: 'Linked', message: 'x', tags: last })
    const lastPage = await (await get(`/errors/${error?.id}`)).text()
    expect(await types('tag=my+order:o59')).toBe('')
    expect(lastPage).toContain('<dd><bdi>o59</bdi></dd>')
    expect(lastPage.match(/\/errors\?tag=/g)).toHaveLength(4)
  })

  test('suggests keys and values, and marks keys with too many values', async () => {
    const { tracker, json, get } = await setUp()
    const log = (tags: Record<string, unknown>) =>
      tracker.Commands.LogError.call({ error_type: 'A', message: 'x', tags })
    const error = await log({ city: 'Berlin', country: 'DE', 'a%b': '100%' })
    await log({ city: 'Bern', 'order id': 'x' })
    for (let i = 0; i < 60; i++) await log({ order: `o${String(i).padStart(2, '0')}` })
    const suggest = async (start: string) =>
      (await json(`/errors/tags.json?start=${encodeURIComponent(start)}`)) as unknown as Suggestions
    expect(new Set((await suggest('')).tags)).toEqual(new Set(['a%b=', 'city=', 'country=', 'order=', 'order id=']))
    expect(await suggest('c')).toMatchObject({ tags: ['city=', 'country='], has_more_values: false })
    expect(await suggest('CITY=be')).toMatchObject({ tags: ['city=berlin', 'city=bern'], has_more_values: false })
    expect(await suggest('city=x')).toMatchObject({ tags: [] })
    const orders = await suggest('order=')
    expect(orders.tags).toHaveLength(20)
    expect(orders).toMatchObject({ has_more_values: true })
    expect(await (await get(`/errors/${error?.id}`)).text()).toContain('Too many values: ')
  })

  test('suggests tags of the selected application and environment only', async () => {
    const { tracker, json, get } = await setUp()
    const log = (error_type: string, environment: string, tags: Record<string, unknown>) =>
      tracker.Commands.LogError.call({ error_type, message: 'x', environment, tags })
    await log('A', 'production', { city: 'Berlin', 'a%b': '1', plan: 'pro' })
    await log('A', 'staging', { city: 'Bern', 'a%b': '2' })
    for (let i = 0; i < 60; i++) await log('B', 'production', { city: `c${i}` })
    const suggest = async (start: string, scope: string) =>
      (await json(`/errors/tags.json?start=${encodeURIComponent(start)}&${scope}`)) as unknown as Suggestions
    const [application] = await tracker.Queries.Applications.call()
    const own = `application_id=${application?.id}`
    expect(await suggest('city=be', 'environment=staging')).toMatchObject({
      tags: ['city=bern'],
      has_more_values: false,
    })
    expect(await suggest('city=be', own)).toMatchObject({ tags: ['city=berlin', 'city=bern'], has_more_values: true })
    expect(await suggest('city=be', `${own}&environment=production`)).toMatchObject({
      ...{ tags: ['city=berlin'], has_more_values: true },
    })
    expect((await suggest('city=', 'environment=production')).tags).toHaveLength(20)
    expect(await suggest('', 'environment=staging')).toMatchObject({ tags: ['a%b=', 'city='] })
    expect(await suggest('a%', own)).toMatchObject({ tags: ['a%b='] })
    expect(await suggest('p_', own)).toMatchObject({ tags: [] })
    expect(await suggest('', 'application_id=999')).toMatchObject({ tags: [] })
    expect(await suggest('', 'environment=nowhere')).toMatchObject({ tags: [] })
    // The search box uses the selection of the page.
    const page = await (await get('/errors?environment=staging')).text()
    expect(page).toContain('data-tags="/error_dashboard/errors/tags.json?environment=staging"')
  })

  test('accepts hostile tags, and deletes them together with their error', async () => {
    const { tracker, types, json } = await setUp()
    const tags = Object.fromEntries(Array.from({ length: 200 }, (_, i) => [`key${i}\0\ud800`, 'v'.repeat(10_000)]))
    const error = await tracker.Commands.LogError.call({
      error_type: 'Hostile',
      message: 'x',
      tags: { __proto__: 'x', constructor: 'y', "'; drop table": '<script>', ...tags },
    })
    expect(await types(`tag=${encodeURIComponent("'; drop table:<script>")}`)).toBe('Hostile')
    expect(await types('tag=constructor:y')).toBe('Hostile')
    await tracker.Commands.BatchDeleteErrors.call({ error_ids: [error?.id ?? 0] })
    expect(await json('/errors/tags.json')).toMatchObject({ tags: [] })
  })
})
