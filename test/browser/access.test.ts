import { afterAll, beforeAll, expect, test } from 'vitest'
import { describeInBrowser, expectAccessible, expectNoOverflow } from '../support/browser.js'
import { type Host, startHost } from '../support/host.js'

describeInBrowser('the Access page in a browser', ({ open }) => {
  let host: Host

  beforeAll(async () => {
    host = await startHost('sqlite::memory:')
  })

  afterAll(() => host?.close())

  test.each([true, false])('an admin creates, uses and revokes a token (JavaScript %s)', async (javaScriptEnabled) => {
    const permissions = javaScriptEnabled ? ['clipboard-read', 'clipboard-write'] : []
    const page = await open({ viewport: { width: 390, height: 900 }, javaScriptEnabled, permissions })
    const name = `ci ${javaScriptEnabled}`
    await page.goto(`${host.origin}/error_dashboard/settings/access`)
    await page.getByText('Create token').click()
    await page.getByLabel('Name').fill(name)
    await page.getByLabel('Role').selectOption('responder')
    await page.getByRole('button', { name: 'Create' }).click()
    await page.getByRole('heading', { name: 'Token created' }).waitFor()
    const token = (await page.locator('#new-token').innerText()).trim()
    expect(page.url()).toBe(`${host.origin}/error_dashboard/settings/access`)
    await expectNoOverflow(page)
    if (javaScriptEnabled) {
      await expectAccessible(page)
      await page.getByRole('button', { name: 'Copy token' }).click()
      await page.getByText('Copied').first().waitFor()
      expect(await page.evaluate('navigator.clipboard.readText()')).toBe(token)
    }
    const use = async () => (await host.get('/errors.json', { authorization: `Bearer ${token}` })).status
    expect(await use()).toBe(200)
    await page.getByRole('link', { name: 'Done' }).click()
    const row = page.getByRole('listitem').filter({ hasText: name })
    await row.getByText('Revoke', { exact: true }).click()
    expect(await use()).toBe(200)
    await row.getByRole('button', { name: 'Revoke token' }).click()
    await page.getByText(`Revoked the token ${name}.`).waitFor()
    expect(await use()).toBe(401)
    expect(await page.content()).not.toContain(token)
  })
})
