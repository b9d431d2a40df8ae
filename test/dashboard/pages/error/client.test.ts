import { expect, test } from 'vitest'
import { describeClient } from '../../../../src/dashboard/pages/error/occurrence/client.js'

test.each([
  [
    'Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.1 Safari/605.1.15',
    { browser: 'Safari 18.1', system: 'macOS', device: 'desktop' },
  ],
  [
    'Mozilla/5.0 (iPhone; CPU iPhone OS 17_5 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/17.5 Mobile/15E148 Safari/604.1',
    { browser: 'Safari 17.5', system: 'iOS 17.5', device: 'Apple iPhone' },
  ],
  [
    'Larder/8.4.0 (Pixel 8; Android 14) okhttp/4.12.0',
    { browser: 'Larder 8.4.0', system: 'Android 14', device: 'Pixel 8' },
  ],
  [
    'Larder/8.4.0 (iPhone14,2; iOS 17.5; Scale/3.00)',
    { browser: 'Larder 8.4.0', system: 'iOS 17.5', device: 'iPhone14,2' },
  ],
  [
    'Dalvik/2.1.0 (Linux; U; Android 14; en-us; Pixel 8 Build/UQ1A.240105)',
    { browser: 'Dalvik 2.1.0', system: 'Android 14', device: 'Pixel 8' },
  ],
  ['Larder/1474.2 CFNetwork/1494.0.7 Darwin/23.4.0', { browser: 'Larder 1474.2', system: null, device: null }],
  ['curl/8.5.0', { browser: 'curl 8.5.0', system: null, device: null }],
  ['CrawlerBot/2.1 (+https://bot.example/about)', { browser: 'CrawlerBot 2.1', system: null, device: null }],
  ['<svg onload="document.title=1">', { browser: '<svg', system: null, device: null }],
  ['(((', { browser: null, system: null, device: null }],
  ['', { browser: null, system: null, device: null }],
])('describes the client %s', (user_agent, expected) => {
  expect(describeClient(user_agent)).toEqual(expected)
})
