import { afterAll, beforeAll, expect, test } from 'vitest'
import { describeInBrowser, expectAccessible } from '../support/browser.js'
import { type Host, startHost } from '../support/host.js'

describeInBrowser('the tag field of the filters', ({ open }) => {
  let host: Host

  beforeAll(async () => {
    host = await startHost('sqlite::memory:')
    for (const city of ['Berlin', 'Bern', 'Oslo']) {
      const tags = { city, tier: 'gold' }
      await host.tracker.Commands.LogError.call({ error_type: city, message: 'x', tags })
    }
  })

  afterAll(() => host?.close())

  test('suggests keys and values, and explains how to add more tags', async () => {
    const page = await open()
    await page.goto(`${host.origin}/error_dashboard/errors`)
    await page.locator('summary', { hasText: 'More' }).first().click()
    const field = page.getByLabel('Tag (key:value)', { exact: true })
    const suggested = (tags: string[]) =>
      page.waitForFunction(
        (expected) =>
          [...document.querySelectorAll<HTMLOptionElement>('#tags option')].map(({ value }) => value).join() ===
          expected,
        tags.join(),
      )
    await field.focus()
    await suggested(['city:', 'tier:'])
    await field.pressSequentially('city:ber')
    await suggested(['city:berlin', 'city:bern'])
    expect(await page.locator('#tag-hint').textContent()).toContain('Can be repeated')
    await expectAccessible(page)
    await field.fill('city:bern')
    await field.press('Enter')
    await page.waitForURL(/tag=city%3Abern/)
    expect(await page.locator('tr[data-row]').count()).toBe(1)
    await page.locator('summary', { hasText: 'More' }).first().click()
    await page.getByLabel('Another tag').fill('tier:gold')
    await page.getByLabel('Another tag').press('Enter')
    await page.waitForURL(/tag=city%3Abern.*tier%3Agold/)
    expect(await page.locator('tr[data-row]').count()).toBe(1)

    await page.setViewportSize({ width: 390, height: 800 })
    await page.goto(`${host.origin}/error_dashboard/errors`)
    await page.locator('.filter-toggle summary').click()
    await page.locator('.filter-controls summary', { hasText: 'More' }).click()
    await field.fill('city:oslo')
    await field.press('Enter')
    await page.waitForURL(/tag=city%3Aoslo/)
  })
})
