import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { normalizeMessage } from '../../../src/model/grouping/normalized-message.js'
import { errorSignature, fingerprintSignature } from '../../../src/model/grouping/signature.js'
import { codePlace } from '../../../src/model/stacks/code-place.js'

const ERROR = {
  error_type: 'TypeError',
  message: "Cannot read properties of undefined (reading 'price')",
  backtrace: [
    'at lookUp (/srv/shop/node_modules/prices/index.js:7:7)',
    'at total (/srv/shop/src/cart.ts:12:5)',
    'at checkout (/srv/shop/src/checkout.ts:40:11)',
    'at async /srv/shop/src/server.ts:9:3',
  ],
  project_root: '/srv/shop',
}

const signature = (changes: Partial<typeof ERROR> = {}) => {
  const { error_type, message, backtrace, project_root } = { ...ERROR, ...changes }
  return errorSignature({ error_type, message: normalizeMessage(message), place: codePlace(backtrace, project_root) })
}
const withLines = (change: (line: string) => string) => signature({ backtrace: ERROR.backtrace.map(change) })

test('returns a SHA-256 digest of 64 hexadecimal digits', () => {
  expect(signature()).toMatch(/^[0-9a-f]{64}$/)
  expect(fingerprintSignature('checkout')).toMatch(/^[0-9a-f]{64}$/)
  expect(signature({ message: '', error_type: '', backtrace: [] })).toMatch(/^[0-9a-f]{64}$/)
})

describe('equal signatures', () => {
  test('ignores the deployment folder', () => {
    const backtrace = ERROR.backtrace.map((line) => line.replace('/srv/shop', '/opt/releases/42'))
    expect(signature({ backtrace, project_root: '/opt/releases/42' })).toBe(signature())
  })

  test('ignores the path format of Windows', () => {
    const backtrace = ERROR.backtrace.map((line) => line.replace('/srv/shop', 'C:\\shop').replaceAll('/', '\\'))
    expect(signature({ backtrace, project_root: 'C:\\shop' })).toBe(signature())
  })

  test('treats file URLs of ES modules like paths', () => {
    expect(withLines((line) => line.replace('/srv/shop', 'file:///srv/shop'))).toBe(signature())
  })

  test('ignores line and column numbers', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 99_999 }), fc.integer({ min: 1, max: 999 }), (row, column) => {
        expect(withLines((line) => line.replace(/:\d+:\d+/, `:${row}:${column}`))).toBe(signature())
      }),
    )
  })

  test('ignores the version of a library in the stack', () => {
    expect(withLines((line) => line.replace('prices/index.js', 'prices/dist/v2.js'))).toBe(signature())
  })

  test('ignores the depth of direct and indirect recursion', () => {
    const signatureAt = (...names: string[]) =>
      signature({ backtrace: names.map((name) => `at ${name} (/srv/shop/tree.ts:1:1)`) })
    expect(signatureAt('walk', 'walk', 'walk', 'walk', 'main')).toBe(signatureAt('walk', 'main'))
    expect(signatureAt('walk', 'visit', 'walk', 'visit', 'walk', 'main')).toBe(signatureAt('walk', 'visit', 'main'))
  })

  test('ignores line numbers of evaluated code and of files with parentheses in their path', () => {
    const signatureAt = (line: string) => signature({ backtrace: [line] })
    expect(signatureAt('at eval (eval at load (/srv/shop/a.js:1:2), <anonymous>:3:4)')).toBe(
      signatureAt('at eval (eval at load (/srv/shop/a.js:9:9), <anonymous>:5:6)'),
    )
    expect(signatureAt('at page (/srv/shop/(group)/page.js:1:2)')).toBe(
      signatureAt('at page (/srv/shop/(group)/page.js:3:4)'),
    )
  })

  test('ignores line numbers in Java, Firefox and native frames', () => {
    const signatureAt = (line: string) => signature({ backtrace: [line] })
    expect(signatureAt('at com.shop.Cart.total(Cart.java:12)')).toBe(
      signatureAt('at com.shop.Cart.total(Cart.java:99)'),
    )
    expect(signatureAt('total@https://shop.example/cart.js:1:2')).toBe(
      signatureAt('total@https://shop.example/cart.js:3:4'),
    )
    expect(signatureAt('3 Shop 0x0000000104 main + 512')).toBe(signatureAt('3 Shop 0x0000000208 main + 600'))
  })

  test('ignores the content hash in the file names of a browser bundle', () => {
    const signatureAt = (url: string) => signature({ backtrace: [`at total (${url}:1:2345)`] })
    expect(signatureAt('https://shop.example/assets/cart-B7xK2m9Q.js')).toBe(
      signatureAt('https://cdn.shop.example/assets/cart-Zk81mPq3.js'),
    )
    expect(signatureAt('https://shop.example/js/cart.3f9a1c20.js')).toBe(
      signatureAt('https://shop.example/js/cart.77aa01bc.js?v=2'),
    )
    expect(signatureAt('https://shop.example/js/cart-settings.js')).not.toBe(
      signatureAt('https://shop.example/js/cart-contacts.js'),
    )
  })
})

describe('different signatures', () => {
  test('depends on the error type', () => expect(signature({ error_type: 'RangeError' })).not.toBe(signature()))
  test('depends on the message', () => expect(signature({ message: 'Out of stock' })).not.toBe(signature()))
  test('depends on the file', () =>
    expect(withLines((line) => line.replace('cart.ts', 'order.ts'))).not.toBe(signature()))
  test('depends on the function', () => expect(withLines((line) => line.replace('total', 'sum'))).not.toBe(signature()))
  test('depends on the caller', () =>
    expect(withLines((line) => line.replace('checkout (', 'preview ('))).not.toBe(signature()))
  test('depends on the custom fingerprint', () => expect(fingerprintSignature('a')).not.toBe(fingerprintSignature('b')))

  test('depends on the first frame if all frames are in libraries', () => {
    const signatureAt = (name: string) =>
      signature({ backtrace: [`at f (/srv/shop/node_modules/${name}/index.js:1:1)`] })
    expect(signatureAt('prices')).not.toBe(signatureAt('taxes'))
    expect(signatureAt('prices')).toBe(signature({ backtrace: ['at f (/srv/shop/node_modules/prices/index.js:8:8)'] }))
  })
})
