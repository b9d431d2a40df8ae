import { describe, expect, test } from 'vitest'
import type { Visit } from '../../../../src/dashboard/define.js'
import { listLink } from '../../../../src/dashboard/links/list-link.js'
import { ListTabs } from '../../../../src/dashboard/pages/errors/list-tabs.js'
import { initialsOf } from '../../../../src/dashboard/ui/initials.js'
import { Pagination } from '../../../../src/dashboard/ui/pagination.js'
import { TABS, type TabCounts } from '../../../../src/triage/list/list-tabs.js'

const visit = { base: '/b', path: '/errors', query: new URLSearchParams(), application_id: null } as unknown as Visit

describe('lower bounds', () => {
  test('lower bounds have a plus sign in the pagination', () => {
    const pagination = {
      page: 2,
      per_page: 25,
      total_count: 10_000,
      total_pages: 400,
      total_is_lower_bound: true,
    } as const
    const html = String(Pagination({ pagination, visit }))
    expect(html).toContain('26–50 of 10,000+')
    expect(html).toContain('Page 2 of 400+')
    expect(
      String(Pagination({ pagination: { ...pagination, total_is_lower_bound: undefined } as never, visit })),
    ).not.toContain('+')
  })

  test('lower bounds have a plus sign on the tabs', () => {
    const counts = Object.fromEntries(TABS.map((name) => [name, { count: 1000, is_lower_bound: true }]))
    const tabs = (open: object) => String(ListTabs({ filter: {}, counts: { ...counts, open } as TabCounts, visit }))
    expect(tabs({ count: 1000, is_lower_bound: true })).toContain('Open<span class="count">1,000+</span>')
    expect(tabs({ count: null })).toContain('Open</a>')
  })
})

describe('the link to a list', () => {
  test('contains active filters without the page and defaults', () => {
    const filter = { page: 3, unresolved: true, hide_snoozed: false, search: 'a&b', severity: undefined }
    expect(listLink(visit, filter)).toBe('/b/errors?unresolved=true&search=a%26b')
    expect(listLink(visit, filter, { search: null, severity: 'high' })).toBe('/b/errors?unresolved=true&severity=high')
    expect(listLink({ ...visit, application_id: 7 }, {})).toBe('/b/errors?application_id=7')
  })
})

describe('initials', () => {
  test.each([
    ['eve.adams@example.org', 'EA'],
    ['Eve', 'E'],
    ['Zoë van der Berg', 'ZB'],
    ['👩‍🚀', '?'],
    ['<script>', 'S'],
    ['مريم', 'م'],
    ['@', '?'],
  ])('abbreviates %s to %s', (name, letters) => {
    expect(initialsOf(name)).toBe(letters)
  })
})
