import { TrackerInstance } from '../../dist/tracker.js'
import { row } from '../harness/report.mjs'

const CREDENTIALS = { dashboard_username: 'bench', dashboard_password: 'bench-password' }
const ROUNDS = 7
const STATEMENTS = 50

/** Measures the cost of counters, on and off: a rate limiter decision, a deprecation, a statement of a request. */
export async function* counted({ quick }) {
  const times = quick ? 20_000 : 100_000
  yield { title: 'A rate limiter decision', measure: () => events(times) }
  yield { title: 'A console.warn line that contains "deprecated"', measure: () => warnings(times / 10) }
  yield { title: `One of ${STATEMENTS} statements of a request`, measure: () => statements(times) }
}

async function events(times) {
  const off = await measureGuard({ enable_breadcrumbs: true }, (record) => fastest(times, recordSameAddress(record)))
  const on = { enable_breadcrumbs: true, enable_request_guard_tracking: true }
  const sameAddress = await measureGuard(on, (record) => fastest(times, recordSameAddress(record)))
  const newAddresses = await measureGuard(on, (record) => fastest(times, recordNewAddresses(record)))
  const against = { against: 'off', better: 'lower' }
  return [
    row({ name: 'off', figure: off, unit: 'µs' }),
    row({ name: 'same address', figure: sameAddress, unit: 'µs', ratio: sameAddress / off, ...against }),
    row({
      name: 'different address each time',
      figure: newAddresses,
      unit: 'µs',
      ratio: newAddresses / off,
      ...against,
    }),
  ]
}

const recordSameAddress = (record) => () =>
  record({ kind: 'throttle', rule: 'sign-in', ip_address: '192.0.2.1', path: '/login' })

function recordNewAddresses(record) {
  let i = 0
  return () => {
    i++
    const ip_address = `10.${(i >> 16) & 255}.${(i >> 8) & 255}.${i & 255}`
    record({ kind: 'throttle', rule: 'sign-in', ip_address, path: `/users/${i}` })
  }
}

async function measureGuard(settings, measure) {
  const tracker = trackerWith(settings)
  const result = measure(tracker.requestGuard.record)
  await tracker.shutdown()
  return result
}

/** Discards the output, so that only the counter is measured. */
async function warnings(times) {
  const { warn } = console
  const measure = async (settings) => {
    console.warn = () => {}
    const tracker = trackerWith({ enable_breadcrumbs: true, ...settings })
    const result = fastest(times, () => console.warn('cart.total() is deprecated, use cart.sum()'))
    await tracker.shutdown()
    console.warn = warn
    return result
  }
  const off = await measure({})
  const on = await measure({ enable_deprecation_tracking: true })
  return [
    row({ name: 'off', figure: off, unit: 'µs' }),
    row({ name: 'counted', figure: on, unit: 'µs', ratio: on / off, against: 'off', better: 'lower' }),
  ]
}

async function statements(times) {
  const measure = async (settings) => {
    const tracker = trackerWith({ enable_breadcrumbs: true, ...settings })
    const step = { category: 'sql', message: 'select * from users where id = $1', metadata: { system: 'postgres' } }
    const request = () =>
      tracker.withScope(() => {
        for (let i = 0; i < STATEMENTS; i++) tracker.addBreadcrumb(step)
      })
    const result = fastest(times / STATEMENTS, request) / STATEMENTS
    await tracker.shutdown()
    return result
  }
  const off = await measure({})
  const on = await measure({ detect_n_plus_one_queries: true })
  return [
    row({ name: 'off', figure: off, unit: 'µs' }),
    row({ name: 'counted', figure: on, unit: 'µs', ratio: on / off, against: 'off', better: 'lower' }),
  ]
}

/** Microseconds per call in the fastest of several rounds, which excludes other load on the machine. */
function fastest(times, work) {
  let best = Number.POSITIVE_INFINITY
  for (let round = 0; round < ROUNDS; round++) {
    const startedAt = performance.now()
    for (let i = 0; i < times; i++) work()
    best = Math.min(best, ((performance.now() - startedAt) * 1000) / times)
  }
  return best
}

function trackerWith(settings) {
  return new TrackerInstance({
    database: 'sqlite::memory:',
    application_name: 'bench',
    ...CREDENTIALS,
    ...settings,
  }).start()
}
