import { seeded, zipf } from '../harness/measure.mjs'

const PLATFORMS = ['API', 'Web', 'iOS', 'Android']
const USER_AGENT =
  'Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/126.0.0.0 Safari/537.36 Edg/126.0.0.0'
const FRAMES = 14

/**
 * Creates input of LogError of about two kilobytes: type, message and stack per group (Zipf), and a separate request,
 * user and platform for each.
 */
export function makeEvents({ count, groups, seed = 1 }) {
  const random = seeded(seed)
  const rank = zipf(groups, random)
  const stacks = Array.from({ length: groups }, (_, group) => stackOf(group))
  return Array.from({ length: count }, () => {
    const group = rank()
    return {
      error_type: typeOf(group),
      message: messageOf(group),
      stack: stacks[group],
      platform: PLATFORMS[Math.floor(random() * PLATFORMS.length)],
      app_version: '3.1.4',
      git_sha: '0123456789abcdef0123456789abcdef01234567',
      user_id: `user-${Math.floor(random() * 5000)}`,
      request_url: `https://shop.example.com/orders/${Math.floor(random() * 1e6)}/items?page=${group}&sort=price`,
      ip_address: `198.51.100.${Math.floor(random() * 256)}`,
      user_agent: USER_AGENT,
      request_params: { order: Math.floor(random() * 1e6), items: [{ sku: 'A-100', quantity: 2 }], coupon: 'SPRING' },
    }
  })
}

/** Creates the error as a host does: a new Error with its own stack, and its details. */
export function toLogErrorInput({ error_type, message, stack, ...fields }) {
  const limit = Error.stackTraceLimit
  Error.stackTraceLimit = 0
  const error = new Error(message)
  Error.stackTraceLimit = limit
  error.name = error_type
  error.stack = `${error_type}: ${message}\n${stack}`
  return { exception: error, ...fields }
}

function typeOf(group) {
  return `${['Payment', 'Stock', 'Cart', 'Session', 'Mail'][group % 5]}${group}Error`
}

function messageOf(group) {
  return `Step ${'abcdefghij'[group % 10]} of the order could not be finished because the peer did not respond`
}

function stackOf(group) {
  return Array.from(
    { length: FRAMES },
    (_, i) => `    at step${i}Of${group} (/srv/shop/src/orders/part-${group % 40}/module-${i}.js:${10 + i}:${5 + i})`,
  ).join('\n')
}
