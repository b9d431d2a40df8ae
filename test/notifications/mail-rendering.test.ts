import { expect, test } from 'vitest'
import { dashboardLinks } from '../../src/notifications/content/dashboard-links.js'
import type { Notice } from '../../src/notifications/content/notice.js'
import { digestMail } from '../../src/notifications/mail/digest-mail.js'
import { noticeMail } from '../../src/notifications/mail/notification-mail.js'
import { errorNotice, heldNotice, hostileNotices, NOTICES } from '../contract/notices.js'
import { describeInBrowser, expectAccessible, expectNoOverflow } from '../support/browser.js'

const links = dashboardLinks({ dashboard_base_url: 'https://ops.example', mount_path: '/error_dashboard' })

const htmlOf = (notice: Notice) =>
  (notice.event === 'digest' ? digestMail(notice, links, 'UTC') : noticeMail(notice, links, 'UTC')).html

const SEVERITIES = (['critical', 'high', 'medium', 'low'] as const).map((severity) =>
  errorNotice('new', {}, { severity }),
)

describeInBrowser('HTML emails', ({ open }) => {
  test.each([
    ['light', 600],
    ['dark', 390],
  ] as const)('HTML emails are accessible in %s mode at %d px', async (colorScheme, width) => {
    const page = await open({ colorScheme, viewport: { width, height: 800 } })
    for (const notice of [NOTICES.new, heldNotice(SEVERITIES), ...hostileNotices(), NOTICES.digest]) {
      await page.setContent(htmlOf(notice))
      await expectNoOverflow(page)
      if (notice === NOTICES.new || notice === NOTICES.digest) await expectAccessible(page)
    }
  })

  test('HTML emails follow the preferred color scheme and run no scripts', async () => {
    const colors: string[] = []
    for (const colorScheme of ['light', 'dark'] as const) {
      const page = await open({ colorScheme })
      for (const notice of hostileNotices()) await page.setContent(htmlOf(notice))
      expect(await page.locator('script, img, iframe, form').count()).toBe(0)
      colors.push(await page.evaluate('getComputedStyle(document.body).backgroundColor'))
    }
    expect(new Set(colors).size).toBe(2)
  })
})
