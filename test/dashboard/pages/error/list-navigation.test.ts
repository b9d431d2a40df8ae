import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { ErrorsListInput } from '../../../../src/triage/list/errors-list.js'
import { describeOneDatabase } from '../../../support/databases.js'
import { type Host, startHost } from '../../../support/host.js'

const HOUR = 3_600_000

/** Links within a part of a page by their text, relative to the mount path. */
function links(html: string, part: RegExp): Record<string, string> {
  const found = (part.exec(html)?.[0] ?? '').matchAll(/<a [^>]*?href="([^"]*)"[^>]*>(.*?)<\/a>/gs)
  return Object.fromEntries(
    [...found].map(([, href = '', text = '']) => [
      text.replace(/<[^>]*>/g, '').trim(),
      href.replaceAll('&amp;', '&').replace('/error_dashboard', ''),
    ]),
  )
}

const ROWS = /<tbody>.*?<\/tbody>/s
const WHERE = /<nav class="error-where".*?<\/nav>/s

describeOneDatabase('navigation between a list and an error', (database) => {
  let host: Host

  beforeAll(async () => {
    host = await startHost(await database.fresh())
    for (let i = 0; i < 8; i++)
      await host.tracker.Commands.LogError.call({
        error_type: `Kind${i}`,
        message: i === 3 ? 'hay' : 'a needle',
        severity: i % 2 ? 'high' : 'low',
        occurred_at: Date.now() - i * HOUR,
      })
  })
  afterAll(() => host.close())

  const get = async (path: string) => (await host.get(path)).text()
  const where = async (path: string) => links(await get(path), WHERE)

  test('keeps the filters and page of the list without JavaScript', async () => {
    const rows = links(await get('/errors?severity=low&per_page=2&page=2&utm=x'), ROWS)
    expect(Object.keys(rows)).toEqual(['Kind4', 'Kind6'])
    const { Errors } = await where(rows.Kind4 ?? '')
    expect(Errors).toBe('/errors?per_page=2&severity=low&page=2')
    expect(links(await get(Errors ?? ''), ROWS)).toEqual(rows)
  })

  test('links to the open errors without a valid list of origin', async () => {
    const rows = links(await get('/errors'), ROWS)
    const [path = ''] = (rows.Kind0 ?? '').split('?')
    const open = { Errors: '/errors?unresolved=true&hide_snoozed=true' }
    expect(await where(path)).toEqual(open)
    expect(await where(`${path}?list_query=severity%3Dlow`)).toEqual(open)
    const odd = await where(`${path}?list_page=1&list_query=${encodeURIComponent('severity=odd&evil=//evil.example')}`)
    expect(odd).toEqual({ Errors: '/errors?severity=odd' })
    expect((await host.get(`${path}?list_page=x`)).status).toBe(422)
  })

  test.each<[ErrorsListInput]>([
    [{}],
    [{ severity: 'low' }],
    [{ sort_by: 'error_type', sort_direction: 'asc' }],
    [{ sort_by: 'severity', sort_direction: 'desc' }],
    [{ search: 'needle', sort_by: 'occurrence_count', sort_direction: 'asc' }],
  ])('steps to the next and previous error of the list %j, in its order', async (filter) => {
    const query = new URLSearchParams(filter as Record<string, string>)
    const wanted = (await host.tracker.Queries.ErrorsList.call(filter)).map(({ id }) => id)
    const rows = Object.values(links(await get(`/errors?${query}`), ROWS))
    const walked: (number | undefined)[] = []
    for (let next = rows[0]; next; ) {
      walked.push(Number(/\d+/.exec(next)?.[0]))
      const ways = await where(next)
      expect(Number(/\d+/.exec(ways['Previous error'] ?? '')?.[0] ?? 0)).toBe(walked.at(-2) ?? 0)
      next = ways['Next error']
    }
    expect(walked).toEqual(wanted)
  })

  test('links to the neighbors of an error that an action removed from the list', async () => {
    const path = links(await get('/errors?unresolved=true&severity=high'), ROWS).Kind3 ?? ''
    const html = await get(path)
    const form = /<form [^>]*\/resolve".*?<\/form>/s.exec(html)?.[0] ?? ''
    const hidden = [...form.matchAll(/<input type="hidden" name="([^"]*)" value="([^"]*)"/g)]
    const fields = Object.fromEntries(hidden.map(([, name = '', value = '']) => [name, value.replaceAll('&amp;', '&')]))
    const response = await host.post(`${path.split('?')[0]}/resolve`, fields)
    const to = (response.headers.get('location') ?? '').replace('/error_dashboard', '')
    const ways = await where(to)
    expect(ways.Errors).toBe('/errors?severity=high&unresolved=true')
    expect(await get(ways['Next error'] ?? '')).toContain('<bdi class="error-type">Kind5</bdi>')
    expect(await get(ways['Previous error'] ?? '')).toContain('<bdi class="error-type">Kind1</bdi>')
    expect(links(await get(ways.Errors ?? ''), ROWS).Kind3).toBeUndefined()
  })
})

describe('the page of one error', () => {
  let host: Host
  let id: number

  beforeAll(async () => {
    host = await startHost('sqlite::memory:', { project_root: '/srv/app' }, { now: () => Date.UTC(2026, 9, 17, 12) })
    const cause = new Error('inner')
    cause.stack = 'Error: inner\n    at read (/srv/app/src/rows.ts:7:3)'
    const exception = new Error('outer', { cause })
    exception.stack = 'Error: outer\n    at load (/srv/app/src/cart.ts:9:1)'
    id = (await host.tracker.Commands.LogError.call({ exception, user_id: '1' }))?.id ?? 0
  })
  afterAll(() => host.close())

  const page = async (query = '') => (await host.get(`/errors/${id}${query}`)).text()

  test('labels the location of the cause in the head and in Markdown, with the message as title', async () => {
    const html = await page()
    expect(html).toContain(
      'caused at <code title="src/rows.ts:7 in read"><span class="place-end">src/rows.ts:7 in read',
    )
    expect(html).toContain('<title>outer · ')
    expect(html).toContain('## `Error` caused at `src/rows.ts:7 in read`')
    const list = await (await host.get('/errors')).text()
    expect(list).toContain(
      '<code class="place-path"><bdi>src/rows.ts:7</bdi></code><code class="place-function"> in read</code>',
    )
  })

  test('formats the days of the chart and uses the singular for one occurrence', async () => {
    const html = await page('?range=30d')
    expect(html).toContain('>12 Oct</text>')
    expect(html).toContain('<title>Sat, 17 Oct 2026, in progress\n1 occurrence</title>')
    expect(html).toContain('<title>Fri, 16 Oct 2026\n0 occurrences</title>')
  })

  test('limits every field to the length that its command accepts', async () => {
    const limits = (html: string) =>
      Object.fromEntries(
        [...html.matchAll(/<(?:input|textarea) [^>]*name="(\w+)"[^>]*maxlength="(\d+)"/g)].map(([, name, max]) => [
          name,
          Number(max),
        ]),
      )
    expect(limits(await page())).toEqual({
      resolved_by_name: 255,
      resolution_comment: 10_000,
      resolution_reference: 2000,
      assigned_to: 255,
      reason: 10_000,
      muted_by_name: 255,
      comment: 10_000,
      author_name: 255,
      body: 10_000,
    })
    expect(limits(await (await host.get('/errors')).text())).toMatchObject({
      resolved_by_name: 255,
      resolution_comment: 10_000,
      assigned_to: 255,
      comment: 10_000,
      reason: 10_000,
      mute_reason: 10_000,
    })
  })

  test.each([
    ['unassign', {}, 'Already unassigned.'],
    ['unsnooze', {}, 'This error is not snoozed.'],
    ['update_priority', { priority_level: '0' }, 'Priority is already none.'],
    ['update_status', { status: 'new' }, 'Status is already new.'],
    ['update_priority', { priority_level: '4' }, 'Priority set to critical.'],
    ['update_priority', { priority_level: '4' }, 'Priority is already critical.'],
    ['assign', { assigned_to: 'Anna' }, 'Assigned to Anna.'],
    ['assign', { assigned_to: 'Anna' }, 'Already assigned to Anna.'],
    ['resolve', { resolution_comment: 'Fixed' }, 'Resolved. Reopens automatically if it occurs again.'],
    ['resolve', {}, 'Already resolved.'],
  ])('confirms the action %s %j: %s', async (action, form, notice) => {
    const response = await host.post(`/errors/${id}/${action}`, form as Record<string, string>)
    const flash = /faultboard_notice=([^;]*)/.exec(response.headers.get('set-cookie') ?? '')?.[1] ?? ''
    expect(decodeURIComponent(flash)).toBe(notice)
  })
})
