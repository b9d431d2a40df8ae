import { expect, test } from 'vitest'
import { describeInBrowser, expectAccessible } from './browser.js'

describeInBrowser('the accessibility check', ({ open }) => {
  const tableWith = (rows: string[]) =>
    `<html lang="en"><title>Rows</title><style>.faint { color: #ddd }</style><main><table><tbody>${rows.join('')}`
  const rows = Array.from({ length: 30 }, (_, i) => `<tr><td>Row ${i}</td></tr>`)

  test('accepts repeated rows', async () => {
    const page = await open()
    await page.setContent(tableWith(rows))
    await expectAccessible(page)
  })

  test('reports a single row with different markup after many rows', async () => {
    const page = await open()
    await page.setContent(tableWith([...rows, '<tr><td><b class="faint">Faint</b></td></tr>']))
    await expect(expectAccessible(page)).rejects.toMatchObject({
      actual: [expect.stringContaining('color-contrast: <b class="faint">')],
    })
  })
})
