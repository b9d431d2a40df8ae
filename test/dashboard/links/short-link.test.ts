import { describe, expect, onTestFinished, test } from 'vitest'
import { shortName } from '../../../src/dashboard/links/short-link.js'
import { describeOneDatabase } from '../../support/databases.js'
import { startHost } from '../../support/host.js'

describe('shortName', () => {
  test.each([
    ['shop', 'shop-42'],
    ['@acme/Shop API', 'acme-shop-api-42'],
    ['../../admin?x=%2e', 'admin-x-2e-42'],
    ['магазин', '42'],
    ['', '42'],
  ])('returns the short name of %s as %s', (application_name, expected) => {
    expect(shortName({ id: 42, application_name })).toBe(expected)
  })

  test('returns at most 60 characters', () => {
    expect(shortName({ id: Number.MAX_SAFE_INTEGER, application_name: 'a'.repeat(10_000) }).length).toBeLessThan(60)
  })
})

describeOneDatabase('a short link', (database) => {
  test('a short link leads to the error even after its application was renamed, and requires credentials', async () => {
    const host = await startHost(await database.fresh(), { application_name: '@acme/shop' })
    onTestFinished(() => host.close())
    const error = await host.tracker.Commands.LogError.call({ error_type: 'ShortLinkError', message: 'x' })
    const page = await (await host.get(`/errors/${error?.id}`)).text()
    expect(page).toContain(`/error_dashboard/e/acme-shop-${error?.id}`)

    for (const name of [
      `acme-shop-${error?.id}`,
      `renamed-${error?.id}`,
      `Acme_Shop.Web-${error?.id}`,
      `${error?.id}`,
    ]) {
      const response = await host.get(`/e/${name}`)
      expect(response.status).toBe(302)
      expect(response.headers.get('location')).toBe(`/error_dashboard/errors/${error?.id}`)
    }
    expect((await host.get(`/e/acme-shop-${error?.id}.json`)).headers.get('location')).toMatch(/\d\.json$/)
    expect((await host.get('/e/acme-shop')).status).toBe(404)
    expect((await host.get('/e/acme-shop-999999')).status).toBe(302)
    expect((await fetch(`${host.origin}/error_dashboard/e/acme-shop-1`, { redirect: 'manual' })).status).toBe(401)
  })
})
