// Application that uses only @sentry/node and reports to its DSN.
import * as Sentry from '@sentry/node'

Sentry.init({
  dsn: process.argv[2],
  release: 'shop@2.4.0+118',
  environment: 'staging',
  serverName: 'web-1',
  tracesSampleRate: 1,
})
Sentry.setUser({ id: 42, email: 'ada@shop.example', ip_address: '203.0.113.9' })
Sentry.setTags({ region: 'eu', tier: 3 })
Sentry.setContext('cart', { items: 2, password: 'hunter2' })
Sentry.addBreadcrumb({ category: 'cart', message: 'item added', level: 'info', data: { sku: 'A-1' } })

function charge() {
  try {
    JSON.parse('{')
  } catch (cause) {
    throw new TypeError('the card was refused', { cause })
  }
}

try {
  charge()
} catch (error) {
  Sentry.captureException(error)
}
Sentry.captureMessage('stock is low', 'warning')
for (const id of [1, 2]) {
  Sentry.withScope((scope) => {
    scope.setFingerprint(['payment', 'timeout'])
    Sentry.captureException(new Error(`a different message ${'x'.repeat(id)}`))
  })
}
Sentry.captureException(new AggregateError([new RangeError('one'), new SyntaxError('two')], 'both failed'))
Sentry.startSpan({ name: 'checkout' }, () => Sentry.captureException(new Error('within a span')))
// Large enough to be compressed.
Sentry.withScope((scope) => {
  scope.setExtra('basket', 'a long list of things '.repeat(3000))
  Sentry.captureException(new Error('a large event'))
})
Promise.reject(new Error('promise failed'))
setTimeout(async () => {
  await Sentry.flush(20_000)
  process.exit(0)
}, 100)
