import { execFileSync } from 'node:child_process'
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { expect, test } from 'vitest'
import { describeInBrowser } from '../support/browser.js'
import { temporaryFolder } from '../support/tracker.js'

/** Pictures of a part of a page. */
const PANELS = /^(variables|breadcrumbs|grouping)-/

describeInBrowser('npm run pictures', ({ open }) => {
  test('npm run pictures creates every picture of docs/images', { timeout: 400_000 }, async () => {
    const folder = temporaryFolder()
    execFileSync(process.execPath, ['scripts/pictures.mjs', '--quick', folder], { stdio: 'pipe' })
    const names = readdirSync(folder).sort()
    expect(names).toEqual(readdirSync('docs/images').sort())
    const page = await open()
    for (const name of names) {
      await page.goto(pathToFileURL(join(folder, name)).href)
      const width = await page.evaluate("document.querySelector('img').naturalWidth")
      if (PANELS.test(name)) expect(width, name).toBeGreaterThan(200)
      else expect(width, name).toBe(name.includes('phone') ? 390 : 1200)
    }
  })
})
