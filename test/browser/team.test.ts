import type { Page } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { DashboardUser } from '../../src/config/kinds.js'
import { hashPassword } from '../../src/model/people/derive-key.js'
import { describeInBrowser, expectAccessible, expectNoOverflow } from '../support/browser.js'
import { type Host, startHost } from '../support/host.js'

/** Names, passwords and roles of the team. */
const TEAM = [
  ['vera', 'viewer'],
  ['rosa', 'responder'],
  ['ada', 'admin'],
] as const

describeInBrowser('a team with three roles', ({ open }) => {
  let host: Host
  let production: number
  let staging: number
  let noise: number

  beforeAll(async () => {
    const users = TEAM.map(async ([name, role]): Promise<DashboardUser> => {
      return { name, role, password_hash: await hashPassword(`password of ${name}`, { N: 2 ** 14, r: 8, p: 1 }) }
    })
    host = await startHost('sqlite::memory:', { dashboard_users: await Promise.all(users) })
    const log = async (error_type: string, environment: string) => {
      const error = await host.tracker.Commands.LogError.call({ error_type, message: 'Card declined', environment })
      return error?.id ?? 0
    }
    production = await log('PaymentError', 'production')
    staging = await log('PaymentError', 'staging')
    noise = await log('NoiseError', 'production')
  })

  afterAll(() => host?.close())

  const at = (path: string) => `${host.origin}/error_dashboard${path}`
  const signInAs = (name: string): Promise<Page> =>
    open({ httpCredentials: { username: name, password: `password of ${name}` } })
  const statusOf = async (error_id: number) => (await host.tracker.Queries.FindError.call({ error_id }))?.status

  test('a viewer reads, a responder triages one environment, an admin deletes and reads the audit log', async () => {
    const vera = await signInAs('vera')
    await vera.goto(at(`/errors/${production}`))
    expect(await vera.textContent('main')).toContain('Card declined')
    expect(await vera.locator('#resolve, #assign, #snooze, .comment-form, .danger').count()).toBe(0)
    expect((await vera.goto(at('/settings/audit')))?.status()).toBe(403)

    const rosa = await signInAs('rosa')
    await rosa.goto(at(`/errors/${production}`))
    await rosa.locator('#assign > summary').click()
    const known = rosa.getByRole('group', { name: 'Known names' }).getByRole('button')
    expect(await known.locator('bdi').allInnerTexts()).toEqual(['ada', 'vera'])
    await rosa.getByLabel('Assignee').fill('VE')
    expect(await known.filter({ visible: true }).locator('bdi').allInnerTexts()).toEqual(['vera'])
    await rosa.getByRole('button', { name: 'vera', exact: true }).click()
    await rosa.locator('.notice', { hasText: 'Assigned to vera.' }).waitFor()
    await rosa.locator('#assign > summary').click()
    expect(await known.locator('bdi').allInnerTexts()).toEqual(['ada'])
    // Typing replaces the current assignee.
    await rosa.keyboard.type('da')
    expect(await rosa.getByLabel('Assignee').inputValue()).toBe('da')
    expect(await known.filter({ visible: true }).locator('bdi').allInnerTexts()).toEqual(['ada'])
    await rosa.getByRole('button', { name: 'Assign to me' }).click()
    await rosa.locator('.notice', { hasText: 'Assigned to rosa.' }).waitFor()
    await rosa.goto(at('/errors?unresolved=true&hide_snoozed=true'))
    await rosa.getByRole('link', { name: /^Mine/ }).click()
    await rosa.waitForURL(/assigned_to=rosa/)
    expect(await rosa.locator('main').textContent()).not.toContain('NoiseError')
    await rosa.goto(at(`/errors/${production}`))
    await rosa.locator('.comment-form textarea').fill('The bank has confirmed it')
    await rosa.locator('.comment-form button[type=submit]').click()
    await rosa.locator('.notice', { hasText: 'Comment added.' }).waitFor()
    await rosa.getByRole('button', { name: 'Resolve', exact: true }).first().click()
    await rosa.locator('.notice', { hasText: 'Resolved. Reopens automatically' }).waitFor()
    expect(await rosa.locator('.danger').count()).toBe(0)
    expect([await statusOf(production), await statusOf(staging)]).toEqual(['resolved', 'new'])

    await rosa.getByRole('link', { name: 'staging', exact: true }).click()
    await rosa.waitForURL(new RegExp(`/errors/${staging}$`))
    expect(await rosa.locator('.error-head').textContent()).toMatch(/staging.*also in production/)
    await rosa.goto(at('/errors'))
    const switcher = rosa.locator('.switcher', { has: rosa.locator('summary[title=Environment]') })
    await switcher.locator('summary').click()
    await switcher.getByRole('link', { name: 'staging' }).click()
    await rosa.waitForURL(/\?environment=staging$/)
    expect(await switcher.locator('summary').textContent()).toBe('staging')
    const rows = rosa.locator('tr[data-row]')
    expect(await rows.count()).toBe(1)
    expect(await rows.textContent()).toContain('PaymentError')
    await rosa.locator('#search').fill('-environment:staging')
    await rosa.locator('#search').press('Enter')
    await rosa.waitForURL(/environment=staging.*query=-environment/)
    expect(await rows.count()).toBe(0)
    await switcher.locator('summary').click()
    await switcher.getByRole('link', { name: 'All environments' }).click()
    await rosa.waitForURL((url) => !url.searchParams.has('environment'))
    expect(await rows.allTextContents()).toEqual([
      expect.stringContaining('NoiseError'),
      expect.stringContaining('PaymentError'),
    ])
    await rosa.setViewportSize({ width: 390, height: 800 })
    await rosa.goto(at(`/errors/${staging}?environment=staging`))
    await rosa.locator('.top-bar').getByText('staging').click()
    expect(await switcher.locator('summary').isVisible()).toBe(true)

    const ada = await signInAs('ada')
    await ada.goto(at(`/errors/${noise}`))
    await ada.locator('#more > summary, summary[aria-label="More actions"]').first().click()
    await ada.locator('summary', { hasText: 'Delete' }).click()
    await ada.getByRole('button', { name: 'Delete error' }).click()
    await ada.locator('.notice', { hasText: '1 error deleted' }).waitFor()
    await ada.goto(at('/settings/audit'))
    expect(await ada.locator('.audit-action').allTextContents()).toEqual([
      'Deleted',
      'Resolved',
      'Commented',
      'Assigned to rosa',
      'Assigned to vera',
    ])
    expect(await ada.locator('.audit-actor').allTextContents()).toEqual(['ada', 'rosa', 'rosa', 'rosa', 'rosa'])
    await expectNoOverflow(ada)
    await expectAccessible(ada)
    await ada.locator('select[name=actor]').selectOption('ada')
    await ada.waitForURL(/actor=ada/)
    expect(await ada.locator('.audit-action').allTextContents()).toEqual(['Deleted'])
    const origin = ada.locator('.audit-origin small')
    await origin.evaluate((address) => address.replaceChildren('2001:db8:85a3:8d3:1319:8a2e:370:7348'))
    for (const width of [390, 320]) {
      await ada.setViewportSize({ width, height: 800 })
      await expectNoOverflow(ada)
      // The address leaves at least half of the line to the target.
      expect((await origin.boundingBox())?.width).toBeLessThan(width / 2)
    }
  })
})
