import { describe, expect, test } from 'vitest'
import { clientStack } from '../../../src/model/stacks/client-stack.js'
import { codePlace } from '../../../src/model/stacks/code-place.js'

const parse = (stack: string, more: { message?: string; page_url?: string; script_origins?: string[] } = {}) =>
  clientStack(stack, { maxLines: 50, ...more })

const SAMPLES: readonly [title: string, stack: string, lines: string[]][] = [
  [
    'Chrome',
    `TypeError: Cannot read properties of undefined (reading 'price')
    at Cart.total (https://shop.example/assets/cart.js:12:31)
    at new Checkout (https://shop.example/assets/cart.js:40:9)
    at Array.map (<anonymous>)
    at async Object.pay [as submit] (https://shop.example/assets/pay.js:3:5)
    at HTMLButtonElement.<anonymous> (https://shop.example/?session=42:7:1)
    at eval (eval at load (https://shop.example/assets/x.js:1:2), <anonymous>:3:4)
    at https://shop.example/assets/cart.js:90:1`,
    [
      'at total (https://shop.example/assets/cart.js:12:31)',
      'at Checkout (https://shop.example/assets/cart.js:40:9)',
      'at map (native)',
      'at pay (https://shop.example/assets/pay.js:3:5)',
      'at https://shop.example/:7:1',
      'at https://shop.example/assets/x.js:1:2',
      'at https://shop.example/assets/cart.js:90:1',
    ],
  ],
  [
    'Firefox',
    `total@https://shop.example/assets/cart.js:12:31
Cart.prototype.total@https://shop.example/assets/cart.js:12:31
pay/<@https://shop.example/assets/pay.js:3:5
async*submit@https://shop.example/assets/pay.js:9:5
f@https://shop.example/assets/x.js line 5 > eval:1:2
@https://esm.example/react@19/index.js:90:1
setTimeout handler*later@https://shop.example/assets/pay.js:30:1
@https://shop.example/assets/pay.js:40:1`,
    [
      'at total (https://shop.example/assets/cart.js:12:31)',
      'at total (https://shop.example/assets/cart.js:12:31)',
      'at https://shop.example/assets/pay.js:3:5',
      'at submit (https://shop.example/assets/pay.js:9:5)',
      'at f (https://shop.example/assets/x.js:5)',
      'at https://esm.example/react@19/index.js:90:1',
    ],
  ],
  [
    'Safari',
    `total@https://shop.example/assets/cart.js:12:31
map@[native code]
@https://shop.example/assets/cart.js:40:9
module code@https://shop.example/assets/cart.js:90:1
global code@https://shop.example/assets/cart.js:91:1`,
    [
      'at total (https://shop.example/assets/cart.js:12:31)',
      'at map (native)',
      'at https://shop.example/assets/cart.js:40:9',
      'at https://shop.example/assets/cart.js:90:1',
      'at https://shop.example/assets/cart.js:91:1',
    ],
  ],
  [
    'React Native with Hermes',
    `TypeError: undefined is not a function
    at total (address at index.android.bundle:1:1234567)
    at anonymous (address at /data/user/0/com.shop/files/CodePush/a1b2/index.android.bundle:1:99)
    at apply (native)
    at global (address at index.android.bundle:1:1)`,
    [
      'at total (index.android.bundle:1:1234567)',
      'at index.android.bundle:1:99',
      'at apply (native)',
      'at index.android.bundle:1:1',
    ],
  ],
  [
    'React Native with JavaScriptCore',
    `total@http://10.0.2.2:8081/index.bundle?platform=ios&dev=true:120:33
render@/var/containers/Bundle/Application/0E5A1C6E-7C52-4F3C/Shop.app/main.jsbundle:1:2`,
    ['at total (index.bundle:120:33)', 'at render (main.jsbundle:1:2)'],
  ],
  [
    'iOS',
    `0   Shop                                0x0000000104b2c1a8 $s4Shop4CartC5totalSiyF + 120
1   Shop                                0x0000000104b2d1a8 Cart.pay() + 84 (Cart.swift:42)
2   My Shop App                         0x0000000104b2c1a8 0x104b20000 + 49576
3   UIKitCore                           0x00000001847d2d84 -[UIApplication sendAction:to:from:forEvent:] + 100
4   libdispatch.dylib                   0x00000001800f1d9c _dispatch_call_block_and_release + 24`,
    [
      'at $s4Shop4CartC5totalSiyF (Shop)',
      'at Cart.pay() (Cart.swift:42)',
      'at My Shop App',
      'at -[UIApplication sendAction:to:from:forEvent:] (UIKitCore) [library]',
      'at _dispatch_call_block_and_release (libdispatch.dylib) [library]',
    ],
  ],
  [
    'Android',
    `java.lang.IllegalStateException: the cart is empty
	at com.shop.cart.Cart.total(Cart.kt:42)
	at com.shop.cart.CartFragment$onCreate$1.invoke(CartFragment.kt:12)
	at a.b.c(Unknown Source:7)
	at android.os.Handler.dispatchMessage(Handler.java:106)
	at java.base/java.lang.reflect.Method.invoke(Native Method)`,
    [
      'at com.shop.cart.Cart.total (Cart.kt:42)',
      'at com.shop.cart.CartFragment$onCreate$1.invoke (CartFragment.kt:12)',
      'at a.b.c (Unknown Source:7)',
      'at android.os.Handler.dispatchMessage (Handler.java:106) [library]',
      'at java.lang.reflect.Method.invoke (native) [library]',
    ],
  ],
  [
    'Flutter',
    `#0      Cart.total (package:shop/cart.dart:12:5)
#1      _rootRun (dart:async/zone.dart:1399:13)`,
    ['at Cart.total (package:shop/cart.dart:12:5)', 'at _rootRun (dart:async/zone.dart:1399:13) [library]'],
  ],
]

describe('clientStack', () => {
  test.each(SAMPLES)('parses a stack of %s', (_title, stack, lines) => {
    expect(parse(stack).backtrace).toEqual(lines)
  })

  test('returns the same code location for Chrome, Firefox and Safari', () => {
    const chrome = `Error: x\n    at Cart.total (https://shop.example/cart.js:1:20)\n    at Array.map (<anonymous>)\n    at new Checkout (https://shop.example/cart.js:2:9)\n    at HTMLButtonElement.<anonymous> (https://shop.example/cart.js:3:1)`
    const firefox =
      'total@https://shop.example/cart.js:1:26\nCheckout@https://shop.example/cart.js:2:13\n@https://shop.example/cart.js:3:4\n'
    const safari =
      'total@https://shop.example/cart.js:1:31\nmap@[native code]\nCheckout@https://shop.example/cart.js:2:12\n@https://shop.example/cart.js:3:2'
    const places = [chrome, firefox, safari].map((stack) => codePlace(parse(stack).backtrace, '/app'))
    expect(places[0]).toEqual(['/cart.js#total', '/cart.js#Checkout', '/cart.js#'])
    expect(places[1]).toEqual(places[0])
    expect(places[2]).toEqual(places[0])
  })

  test('locates an error in scripts of the page, not in third-party scripts', () => {
    const stack = `Error: x
    at inject (chrome-extension://abcdef/content.js:1:1)
    at track (https://www.googletagmanager.com/gtag.js:1:1)
    at library (https://shop.example/node_modules/lodash/map.js:1:1)
    at total (https://cdn.shop.example/cart.js:1:1)
    at bundle (https://d111.cloudfront.net/cart.js:1:1)`
    const page_url = 'https://www.shop.example/checkout'
    expect(codePlace(parse(stack, { page_url }).backtrace, '/app')).toEqual(['/cart.js#total'])
    const script_origins = ['https://d111.cloudfront.net']
    expect(codePlace(parse(stack, { page_url, script_origins }).backtrace, '/app')).toEqual([
      '/cart.js#total',
      '/cart.js#bundle',
    ])
  })

  test('returns the causes of a Java exception', () => {
    const { causes } = parse(`java.lang.RuntimeException: outer
	at com.shop.Main.run(Main.kt:1)
Caused by: java.io.IOException: middle: it broke
	at com.shop.Net.call(Net.kt:2)
	... 12 more
Caused by: com.shop.Refused
	at com.shop.Socket.open(Socket.kt:3)
	Suppressed: java.lang.Exception: while closing
		at com.shop.Socket.close(Socket.kt:4)`)
    expect(causes).toEqual([
      {
        error_type: 'java.io.IOException',
        message: 'middle: it broke',
        relation: 'cause',
        backtrace: ['at com.shop.Net.call (Net.kt:2)'],
        causes: [
          {
            error_type: 'com.shop.Refused',
            message: '',
            relation: 'cause',
            backtrace: ['at com.shop.Socket.open (Socket.kt:3)'],
          },
          {
            error_type: 'java.lang.Exception',
            message: 'while closing',
            relation: 'suppressed',
            backtrace: ['at com.shop.Socket.close (Socket.kt:4)'],
          },
        ],
      },
    ])
  })

  test('ignores message lines that look like frames', () => {
    const message = 'odd\n    at fake (https://evil.example/x.js:1:1)'
    const stack = `Error: ${message}\n    at total (https://shop.example/cart.js:1:2)`
    expect(parse(stack, { message }).backtrace).toEqual(['at total (https://shop.example/cart.js:1:2)'])
  })

  test('keeps a stack in an unknown format and drops sentences that contain an @', () => {
    expect(parse('Something broke\n\n  near the till ').backtrace).toEqual(['Something broke', 'near the till'])
    expect(parse('mail ada@shop.example now\ntotal@https://shop.example/x.js:1:2').backtrace).toEqual([
      'at total (https://shop.example/x.js:1:2)',
    ])
    expect(parse('').backtrace).toEqual([])
  })

  test('removes parts of a URL that vary by visit or device', () => {
    expect(
      parse(`a@https://shop.example/x.js?token=secret#part:1:2
b@blob:https://shop.example/0e5a1c6e-7c52-4f3c-9d5e-3a1b5d7f9c11:1:2
c@data:text/javascript,alert(1):1:2`).backtrace,
    ).toEqual(['at a (https://shop.example/x.js:1:2)', 'at b (blob:https://shop.example:1:2)', 'at c (data::1:2)'])
  })
})

describe('hostile stacks', () => {
  const HOSTILE_STACKS: readonly [string, string][] = [
    ['a line of a megabyte', `at ${'a'.repeat(1_000_000)}`],
    ['a hundred thousand lines', 'at f (https://x.example/y.js:1:2)\n'.repeat(100_000)],
    ['a hundred thousand lines of nothing', '@\n'.repeat(100_000)],
    ['parentheses', `at ${'('.repeat(500_000)}${')'.repeat(500_000)}`],
    ['signs before a place', `${'@a:'.repeat(330_000)}:1:2`],
    ['dots', `at ${'a.'.repeat(400_000)}(x:1:2)`],
    ['blanks', `${' '.repeat(500_000)}0   Shop${' '.repeat(400_000)}0x0`],
    ['words of Apple', Array.from({ length: 5000 }, () => `1  ${'a '.repeat(480)}`).join('\n')],
    ['words of Firefox', Array.from({ length: 5000 }, () => `${'a'.repeat(400)}*${'@'.repeat(400)}`).join('\n')],
    ['words of Dart', Array.from({ length: 5000 }, () => `#1 ${'a<'.repeat(450)} (`).join('\n')],
    ['causes', 'Caused by: a.b: c\n\tat a.b.c(D.java:1)\n'.repeat(20_000)],
  ]

  test.each(HOSTILE_STACKS)('parses %s in linear time', (_title, stack) => {
    // Quadratic work would exceed the timeout of the test.
    const { backtrace, causes } = parse(stack)
    expect(backtrace.length).toBeLessThanOrEqual(50)
    expect(backtrace.every((line) => line.length <= 1100)).toBe(true)
    expect(JSON.stringify(causes).length).toBeLessThan(100_000)
  })
})
