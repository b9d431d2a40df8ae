import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { detectPlatform, normalizePlatform } from '../../../src/model/requests/platform.js'

const KHTML = 'AppleWebKit/537.36 (KHTML, like Gecko)'

const USER_AGENTS: Record<string, readonly string[]> = {
  iOS: [
    'Mozilla/5.0 (iPhone; CPU iPhone OS 17_5_1 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/17.5 Mobile/15E148 Safari/604.1',
    'Mozilla/5.0 (iPad; CPU OS 12_5_7 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/12.1.2 Mobile/15E148 Safari/604.1',
    'Mozilla/5.0 (iPod touch; CPU iPhone OS 12_0 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/12.0 Mobile/15E148 Safari/604.1',
    'Mozilla/5.0 (iPhone; CPU iPhone OS 17_5 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) CriOS/126.0.6478.35 Mobile/15E148 Safari/604.1',
    'Mozilla/5.0 (iPhone; CPU iPhone OS 14_5 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) FxiOS/127.0 Mobile/15E148 Safari/605.1.15',
    'Mozilla/5.0 (iPhone; CPU iPhone OS 16_6 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Mobile/15E148 [FBAN/FBIOS;FBAV/430.0.0.29.117;FBDV/iPhone12,1;FBSN/iOS;FBSV/16.6]',
    'Mozilla/5.0 (iPhone; CPU iPhone OS 16_1_1 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Mobile/20B101 Instagram 262.0.0.19.107 (iPhone14,5; iOS 16_1_1; en_US)',
    'Shop/42 CFNetwork/1410.0.3 Darwin/22.6.0',
    'Shop/2.1.0 (com.example.shop; build:118; iOS 16.4.0) Alamofire/5.6.4',
    'Shop/3.2 (iPhone; iOS 15.7; Scale/3.00)',
    'Shop/3.2 (iPadOS 17.0; Scale/2.00)',
    'Shop/7 iPhone15,2/17.4',
    'Expo/1017756 CFNetwork/1331.0.7 Darwin/21.4.0',
    'AppleCoreMedia/1.0.0.19E258 (iPhone; U; CPU OS 15_4_1 like Mac OS X; en_us)',
    'aws-sdk-iOS/2.33.4 iOS/17.2 en_US',
    'Shop/1.0.0 (Dart/3.3; Flutter; iOS 17.4; iPhone15,2)',
  ],
  Android: [
    `Mozilla/5.0 (Linux; Android 10; K) ${KHTML} Chrome/126.0.0.0 Mobile Safari/537.36`,
    `Mozilla/5.0 (Linux; Android 13; SM-S908B) ${KHTML} SamsungBrowser/25.0 Chrome/121.0.0.0 Mobile Safari/537.36`,
    'Mozilla/5.0 (Android 14; Mobile; rv:127.0) Gecko/127.0 Firefox/127.0',
    `Mozilla/5.0 (Linux; Android 13; Pixel 6 Build/TQ3A.230805.001; wv) ${KHTML} Version/4.0 Chrome/115.0.5790.166 Mobile Safari/537.36`,
    `Mozilla/5.0 (Linux; Android 5.1.1; KFAUWI) ${KHTML} Silk/108.4.6 like Chrome/108.0.5359.160 Safari/537.36`,
    `Mozilla/5.0 (Linux; Android 11; CUBOT X30) ${KHTML} Chrome/120.0.0.0 Mobile Safari/537.36`,
    `Mozilla/5.0 (Linux; Android 8.1.0; CUBOT) ${KHTML} Chrome/120.0.0.0 Mobile Safari/537.36`,
    'Dalvik/2.1.0 (Linux; U; Android 12; Pixel 5 Build/SP2A.220505.002)',
    'okhttp/4.12.0',
    'Shop/5.3.1 (com.example.shop; build:310; Android 13) okhttp/4.9.3',
    'com.example.shop/118 (Linux; U; Android 12; en_US; SM-G991B; Build/SP1A; Cronet/108.0.5359.79)',
    'Shop/1.0.0 (Dart/3.3; Flutter; Android 14; Pixel 8)',
  ],
  Web: [
    `Mozilla/5.0 (Windows NT 10.0; Win64; x64) ${KHTML} Chrome/126.0.0.0 Safari/537.36`,
    `Mozilla/5.0 (Windows NT 10.0; Win64; x64) ${KHTML} Chrome/126.0.0.0 Safari/537.36 Edg/126.0.2592.68`,
    'Mozilla/5.0 (Windows NT 10.0; Win64; x64; rv:127.0) Gecko/20100101 Firefox/127.0',
    'Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/17.5 Safari/605.1.15',
    `Mozilla/5.0 (X11; Linux x86_64) ${KHTML} Chrome/126.0.0.0 Safari/537.36`,
    `Mozilla/5.0 (X11; Linux x86_64) ${KHTML} HeadlessChrome/126.0.0.0 Safari/537.36`,
    `Mozilla/5.0 (X11; CrOS x86_64 14541.0.0) ${KHTML} Chrome/126.0.0.0 Safari/537.36`,
    'Mozilla/5.0 (Windows NT 6.1; WOW64; Trident/7.0; rv:11.0) like Gecko',
    'Mozilla/5.0 (compatible; MSIE 9.0; Windows NT 6.1; Trident/5.0)',
    'Opera/9.80 (Windows NT 6.1; WOW64) Presto/2.12.388 Version/12.18',
    `Mozilla/5.0 (Windows NT 10.0; Win64; x64) ${KHTML} Slack/4.38.125 Chrome/124.0.6367.207 Electron/30.0.6 Safari/537.36`,
    `Mozilla/5.0 (Windows Phone 10.0; Android 6.0.1; Microsoft; Lumia 950) ${KHTML} Chrome/52.0.2743.116 Mobile Safari/537.36 Edge/15.15063`,
    'Mozilla/5.0 (Mobile; Windows Phone 8.1; Android 4.0; ARM; Trident/7.0; Touch; rv:11.0; IEMobile/11.0; NOKIA; Lumia 520) like iPhone OS 7_0_3 Mac OS X AppleWebKit/537 (KHTML, like Gecko) Mobile Safari/537',
    'Mozilla/5.0 (Mobile; Nokia 8110 4G; rv:48.0) Gecko/48.0 Firefox/48.0 KAIOS/2.5',
    'Mozilla/5.0 (SMART-TV; Linux; Tizen 6.0) AppleWebKit/538.1 (KHTML, like Gecko) Version/6.0 TV Safari/538.1',
    'Lynx/2.9.0dev.10 libwww-FM/2.14 SSL-MM/1.4.1 GNUTLS/3.7.1',
  ],
  API: [
    'curl/8.5.0',
    'Wget/1.21.4',
    'HTTPie/3.2.2',
    'node',
    'undici',
    'axios/1.7.2',
    'node-fetch/1.0 (+https://github.com/bitinn/node-fetch)',
    'got (https://github.com/sindresorhus/got)',
    'npm/10.8.1 node/v22.3.0 darwin arm64 workspaces/false',
    'python-requests/2.32.3',
    'Python/3.12 aiohttp/3.9.5',
    'Go-http-client/2.0',
    'Java-http-client/21.0.3',
    'Apache-HttpClient/4.5.14 (Java/17.0.11)',
    'Ruby',
    'GuzzleHttp/7',
    'PostmanRuntime/7.39.0',
    'Dart/3.4 (dart:io)',
    'Shop/42 CFNetwork/1240.0.4 Darwin/20.6.0 (x86_64)',
    'Shop/2.1.0 (com.example.shop; build:118; macOS 13.4.0) Alamofire/5.6.4',
    'Homebrew/4.3.5 (Macintosh; arm64 Mac OS X 14.5) curl/8.6.0',
    'Mozilla/5.0 (Windows NT; Windows NT 10.0; en-US) WindowsPowerShell/5.1.22621.2506',
    'Mozilla/5.0 (linux) AppleWebKit/537.36 (KHTML, like Gecko) jsdom/24.1.0',
    'Mozilla/5.0 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)',
    `Mozilla/5.0 (Linux; Android 6.0.1; Nexus 5X Build/MMB29P) ${KHTML} Chrome/126.0.6478.61 Mobile Safari/537.36 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)`,
    `Mozilla/5.0 ${KHTML}; compatible; bingbot/2.0; +http://www.bing.com/bingbot.htm) Chrome/116.0.1938.76 Safari/537.36`,
    'Mozilla/5.0 (iPhone; CPU iPhone OS 8_3 like Mac OS X) AppleWebKit/600.1.4 (KHTML, like Gecko) Version/8.0 Mobile/12F70 Safari/600.1.4 (compatible; Applebot/0.1)',
    'Mozilla/5.0 (compatible; Baiduspider/2.0; +http://www.baidu.com/search/spider.html)',
    'Mozilla/5.0 (Linux; Android 5.0) AppleWebKit/537.36 (KHTML, like Gecko) Mobile Safari/537.36 (compatible; Bytespider; spider-feedback@bytedance.com)',
    'Mozilla/5.0 (compatible; ExampleCrawler/1.0)',
    'Mozilla/5.0 (compatible; Google-Read-Aloud; +https://support.google.com/webmasters/answer/1061943)',
    'Mozilla/5.0 (compatible; Win32; WinHttp.WinHttpRequest.5)',
    'Mozilla/5.0 (iPhone; CPU iPhone OS 9_1 like Mac OS X) AppleWebKit/601.1.46 (KHTML, like Gecko) Version/9.0 Mobile/13B143 Safari/601.1 (compatible; Mediapartners-Google/2.1; +http://www.google.com/bot.html)',
    'Mozilla/5.0 (compatible; Yahoo! Slurp; http://help.yahoo.com/help/us/ysearch/slurp)',
    'facebookexternalhit/1.1 (+http://www.facebook.com/externalhit_uatext.php)',
    'Slackbot-LinkExpanding 1.0 (+https://api.slack.com/robots)',
    'Mozilla/5.0+(compatible; UptimeRobot/2.0; http://www.uptimerobot.com/)',
    'Stripe/1.0 (+https://stripe.com/docs/webhooks)',
    'GitHub-Hookshot/044aadd',
    'ELB-HealthChecker/2.0',
    'kube-probe/1.29',
  ],
}

describe.each(Object.entries(USER_AGENTS))('user agents of %s', (platform, user_agents) => {
  test.each(user_agents)('recognizes %s', (user_agent) => expect(detectPlatform(user_agent)).toBe(platform))
})

test('returns API without a user agent', () => {
  expect([detectPlatform(undefined), detectPlatform(''), detectPlatform(' ')]).toEqual(Array(3).fill('API'))
})

test('returns a known platform for any text and ignores text beyond the limit', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary' }), (text) => {
      expect(Object.keys(USER_AGENTS)).toContain(detectPlatform(text))
    }),
  )
  expect(detectPlatform(`x${' '.repeat(600)}iPhone`)).toBe('API')
})

test('normalizes the spelling of known platforms and keeps other text', () => {
  expect(['ios', 'ANDROID', 'web', 'api', 'Watch', '__proto__'].map(normalizePlatform)).toEqual([
    'iOS',
    'Android',
    'Web',
    'API',
    'Watch',
    '__proto__',
  ])
  expect(normalizePlatform(undefined)).toBe('API')
})
