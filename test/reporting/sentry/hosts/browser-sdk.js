// Page that uses only @sentry/browser. The build defines DSN.
import * as Sentry from '@sentry/browser'

Sentry.init({ dsn: DSN, release: 'web@1.2.3', environment: 'production' })
Sentry.setUser({ id: 'u-1', email: 'ada@shop.example' })
Sentry.setTag('page', 'cart')

function tooFar() {
  throw new RangeError('clicked too far')
}

document.querySelector('#throw').addEventListener('click', tooFar)
document.querySelector('#reject').addEventListener('click', () => {
  Promise.reject(new TypeError('promise failed'))
})
document.querySelector('#capture').addEventListener('click', () => {
  Sentry.captureException(new Error('could not pay', { cause: new Error('the card was refused') }))
  Sentry.captureMessage('the basket is empty')
})
window.flushed = () => Sentry.flush(5000)
