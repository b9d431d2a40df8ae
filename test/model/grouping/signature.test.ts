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

test('hash_signature is a SHA-256 digest in 64 hexadecimal digits', () => {
  expect(signature()).toMatch(/^[0-9a-f]{64}$/)
  expect(fingerprintSignature('checkout')).toMatch(/^[0-9a-f]{64}$/)
  expect(signature({ message: '', error_type: '', backtrace: [] })).toMatch(/^[0-9a-f]{64}$/)
})

describe('the same error stays in one group', () => {
  test('deployed to another folder', () => {
    const backtrace = ERROR.backtrace.map((line) => line.replace('/srv/shop', '/opt/releases/42'))
    expect(signature({ backtrace, project_root: '/opt/releases/42' })).toBe(signature())
  })

  test('from Windows', () => {
    const backtrace = ERROR.backtrace.map((line) => line.replace('/srv/shop', 'C:\\shop').replaceAll('/', '\\'))
    expect(signature({ backtrace, project_root: 'C:\\shop' })).toBe(signature())
  })

  test('with ES modules, whose frames are file URLs', () => {
    expect(withLines((line) => line.replace('/srv/shop', 'file:///srv/shop'))).toBe(signature())
  })

  test('after an edit above it that moved every line and column', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 99_999 }), fc.integer({ min: 1, max: 999 }), (row, column) => {
        expect(withLines((line) => line.replace(/:\d+:\d+/, `:${row}:${column}`))).toBe(signature())
      }),
    )
  })

  test('after an update of the library it passed through', () => {
    expect(withLines((line) => line.replace('prices/index.js', 'prices/dist/v2.js'))).toBe(signature())
  })

  test('at any depth of a recursion, direct or through others', () => {
    const at = (...names: string[]) =>
      signature({ backtrace: names.map((name) => `at ${name} (/srv/shop/tree.ts:1:1)`) })
    expect(at('walk', 'walk', 'walk', 'walk', 'main')).toBe(at('walk', 'main'))
    expect(at('walk', 'visit', 'walk', 'visit', 'walk', 'main')).toBe(at('walk', 'visit', 'main'))
  })

  test('from evaluated code and from files with parentheses, whose line numbers do not count either', () => {
    const at = (line: string) => signature({ backtrace: [line] })
    expect(at('at eval (eval at load (/srv/shop/a.js:1:2), <anonymous>:3:4)')).toBe(
      at('at eval (eval at load (/srv/shop/a.js:9:9), <anonymous>:5:6)'),
    )
    expect(at('at page (/srv/shop/(group)/page.js:1:2)')).toBe(at('at page (/srv/shop/(group)/page.js:3:4)'))
  })

  test('from phones and browsers, whose lines have other shapes', () => {
    const at = (line: string) => signature({ backtrace: [line] })
    expect(at('at com.shop.Cart.total(Cart.java:12)')).toBe(at('at com.shop.Cart.total(Cart.java:99)'))
    expect(at('total@https://shop.example/cart.js:1:2')).toBe(at('total@https://shop.example/cart.js:3:4'))
    expect(at('3 Shop 0x0000000104 main + 512')).toBe(at('3 Shop 0x0000000208 main + 600'))
  })

  test('from a browser after the next release, whose file names carry another content hash', () => {
    const at = (url: string) => signature({ backtrace: [`at total (${url}:1:2345)`] })
    expect(at('https://shop.example/assets/cart-B7xK2m9Q.js')).toBe(
      at('https://cdn.shop.example/assets/cart-Zk81mPq3.js'),
    )
    expect(at('https://shop.example/js/cart.3f9a1c20.js')).toBe(at('https://shop.example/js/cart.77aa01bc.js?v=2'))
    expect(at('https://shop.example/js/cart-settings.js')).not.toBe(at('https://shop.example/js/cart-contacts.js'))
  })
})

describe('different errors are different groups', () => {
  test('by type', () => expect(signature({ error_type: 'RangeError' })).not.toBe(signature()))
  test('by message', () => expect(signature({ message: 'Out of stock' })).not.toBe(signature()))
  test('by file', () => expect(withLines((line) => line.replace('cart.ts', 'order.ts'))).not.toBe(signature()))
  test('by function', () => expect(withLines((line) => line.replace('total', 'sum'))).not.toBe(signature()))
  test('by caller', () => expect(withLines((line) => line.replace('checkout (', 'preview ('))).not.toBe(signature()))
  test('by custom fingerprint', () => expect(fingerprintSignature('a')).not.toBe(fingerprintSignature('b')))

  test('by the first frame where all frames are libraries', () => {
    const at = (name: string) => signature({ backtrace: [`at f (/srv/shop/node_modules/${name}/index.js:1:1)`] })
    expect(at('prices')).not.toBe(at('taxes'))
    expect(at('prices')).toBe(signature({ backtrace: ['at f (/srv/shop/node_modules/prices/index.js:8:8)'] }))
  })
})
