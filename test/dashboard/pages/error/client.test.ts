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
  ['', { browser: null, system: null, device: null }],
])('describes the client %s', (user_agent, expected) => {
  expect(describeClient(user_agent)).toEqual(expected)
})
