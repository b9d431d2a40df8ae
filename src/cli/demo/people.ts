/** Team members of the sample applications. */
export const TEAM = [
  'Amara Okafor',
  'Jonas Lindqvist',
  'Mei Tanaka',
  'Rafael Souza',
  'Priya Raman',
  'Élodie Martin',
] as const

/** Users of the sample applications: `usr_1001` and so on. */
export const USER_COUNT = 400
export const FIRST_USER = 1001

export const USER_AGENTS = {
  Web: [
    'Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/126.0.0.0 Safari/537.36',
    'Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/17.5 Safari/605.1.15',
    'Mozilla/5.0 (X11; Linux x86_64; rv:127.0) Gecko/20100101 Firefox/127.0',
    'Mozilla/5.0 (iPhone; CPU iPhone OS 17_5 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/17.5 Mobile/15E148 Safari/604.1',
    'Mozilla/5.0 (Linux; Android 14; Pixel 8) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/126.0.0.0 Mobile Safari/537.36',
  ],
  iOS: [
    'Larder/{version} (iPhone15,2; iOS 17.5.1; Scale/3.00)',
    'Larder/{version} (iPad13,8; iPadOS 17.4; Scale/2.00)',
  ],
  Android: [
    'Larder/{version} (Pixel 8; Android 14) okhttp/4.12.0',
    'Larder/{version} (SM-S918B; Android 14) okhttp/4.12.0',
  ],
  API: ['larder-partner/1.4 node/20.14.0', 'python-requests/2.32.3', 'axios/1.7.2', 'Go-http-client/2.0'],
} as const

/** Address ranges reserved for documentation. */
export const ADDRESSES = ['192.0.2.', '198.51.100.', '203.0.113.'] as const
