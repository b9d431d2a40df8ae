import { expect, test } from 'vitest'
import { linksOf } from '../../src/notifications/content/links.js'
import type { Notice } from '../../src/notifications/content/notice.js'
import { digestMail } from '../../src/notifications/mail/digest-mail.js'
import { noticeMail } from '../../src/notifications/mail/notice-mail.js'
import { errorNotice, heldNotice, hostileNotices, NOTICES } from '../contract/notices.js'
import { describeInBrowser, expectAccessible, expectNoOverflow } from '../support/browser.js'

const links = linksOf({ dashboard_base_url: 'https://ops.example', mount_path: '/error_dashboard' })

const htmlOf = (notice: Notice) =>
  (notice.event === 'digest' ? digestMail(notice, links, 'UTC') : noticeMail(notice, links, 'UTC')).html

const SEVERITIES = (['critical', 'high', 'medium', 'low'] as const).map((severity) =>
  errorNotice('new', {}, { severity }),
)

describeInBrowser('the HTML of a mail', ({ open }) => {
  test.each([
    ['light', 600],
    ['dark', 390],
  ] as const)('can be read by everybody, in %s colours and %d wide', async (colorScheme, width) => {
    const page = await open({ colorScheme, viewport: { width, height: 800 } })
    for (const notice of [NOTICES.new, heldNotice(SEVERITIES), ...hostileNotices(), NOTICES.digest]) {
      await page.setContent(htmlOf(notice))
      await expectNoOverflow(page)
      if (notice === NOTICES.new || notice === NOTICES.digest) await expectAccessible(page)
    }
  })

  test('follows the colours that its reader prefers, and runs nothing', async () => {
    const colours: string[] = []
    for (const colorScheme of ['light', 'dark'] as const) {
      const page = await open({ colorScheme })
      for (const notice of hostileNotices()) await page.setContent(htmlOf(notice))
      expect(await page.locator('script, img, iframe, form').count()).toBe(0)
      colours.push(await page.evaluate('getComputedStyle(document.body).backgroundColor'))
    }
    expect(new Set(colours).size).toBe(2)
  })
})
