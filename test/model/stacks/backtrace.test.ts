import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import {
  culpritFrame,
  locationText,
  parseFrame,
  relativeLines,
  stackLines,
} from '../../../src/model/stacks/backtrace.js'

const ROOT = '/srv/shop'

describe('parseFrame with V8, Java and Firefox lines', () => {
  const shapes: [line: string, function_name: string | null, file: string | null, line_number: number | null][] = [
    ['at total (/srv/shop/src/cart.ts:12:5)', 'total', 'src/cart.ts', 12],
    ['    at total (/srv/shop/src/cart.ts:12:5)', 'total', 'src/cart.ts', 12],
    ['at /srv/shop/src/cart.ts:12:5', null, 'src/cart.ts', 12],
    ['at async total (/srv/shop/src/cart.ts:12:5)', 'total', 'src/cart.ts', 12],
    ['at async /srv/shop/src/cart.ts:12:5', null, 'src/cart.ts', 12],
    ['at async file:///srv/shop/src/cart.ts:12:5', null, 'src/cart.ts', 12],
    ['at new Cart (/srv/shop/src/cart.ts:12:5)', 'new Cart', 'src/cart.ts', 12],
    ['at Cart.total [as sum] (/srv/shop/src/cart.ts:12:5)', 'Cart.total [as sum]', 'src/cart.ts', 12],
    ['at get total [as total] (/srv/shop/src/cart.ts:12:5)', 'get total [as total]', 'src/cart.ts', 12],
    ['at Cart.[Symbol(total)] (/srv/shop/src/cart.ts:12:5)', 'Cart.[Symbol(total)]', 'src/cart.ts', 12],
    ['at Object.<anonymous> (/srv/shop/src/cart.ts:12:5)', 'Object.<anonymous>', 'src/cart.ts', 12],
    ['at eval (eval at load (/srv/shop/src/plugin.js:3:9), <anonymous>:1:1)', 'eval', 'src/plugin.js', 3],
    [
      'at eval (eval at <anonymous> (eval at load (/srv/shop/src/plugin.js:3:9)), <anonymous>:1:1)',
      'eval',
      'src/plugin.js',
      3,
    ],
    ['at total (/srv/shop/app/(shop)/page.js:12:5)', 'total', 'app/(shop)/page.js', 12],
    ['at /srv/shop/app/(shop)/page.js:12:5', null, 'app/(shop)/page.js', 12],
    ['at total (file:///srv/shop/my%20code/cart.ts:12:5)', 'total', 'my code/cart.ts', 12],
    ['at total (file:///srv/shop/100%/cart.ts:12:5)', 'total', '100%/cart.ts', 12],
    ['at total (webpack://shop/./src/cart.ts:12:5)', 'total', 'webpack://shop/./src/cart.ts', 12],
    ['at total (webpack-internal:///(rsc)/./src/cart.ts:12:5)', 'total', 'webpack-internal:///(rsc)/./src/cart.ts', 12],
    ['at total (https://shop.example:8080/js/cart.js:12:5)', 'total', 'https://shop.example:8080/js/cart.js', 12],
    ['at com.shop.Cart.total(Cart.java:12)', 'com.shop.Cart.total', 'Cart.java', 12],
    ['total@https://shop.example/js/cart.js:12:5', 'total', 'https://shop.example/js/cart.js', 12],
    ['@https://shop.example/js/cart.js:12:5', null, 'https://shop.example/js/cart.js', 12],
  ]
  test.each(shapes)('parses %s', (line, function_name, file, line_number) => {
    expect(parseFrame(line, ROOT)).toMatchObject({ line, function_name, file, line_number, in_app: true })
  })

  test('makes a Windows path relative to a Windows root', () => {
    for (const line of ['at total (C:\\shop\\src\\cart.ts:12:5)', 'at total (file:///C:/shop/src/cart.ts:12:5)'])
      expect(parseFrame(line, 'C:\\shop')).toMatchObject({ file: 'src/cart.ts', line_number: 12, column: 5 })
  })

  test('does not shorten the path of a folder whose name starts with the root', () => {
    expect(parseFrame('at f (/srv/shop2/src/cart.ts:1:1)', ROOT).file).toBe('/srv/shop2/src/cart.ts')
  })

  test('keeps a line of unknown format as the function name', () => {
    expect(parseFrame('0x00fe libshop.so', ROOT)).toMatchObject({ function_name: '0x00fe libshop.so', file: null })
  })
})

describe('parseFrame with library and runtime frames', () => {
  test.each([
    ['at f (/srv/shop/node_modules/left-pad/index.js:1:1)', 'node_modules/left-pad/index.js'],
    ['at f (/srv/shop/node_modules/a/node_modules/b/index.js:1:1)', 'node_modules/b/index.js'],
    [
      'at f (file:///srv/shop/node_modules/.pnpm/left-pad@1.3.0/node_modules/left-pad/index.js:1:1)',
      'node_modules/left-pad/index.js',
    ],
    ['at f (C:\\shop\\node_modules\\left-pad\\index.js:1:1)', 'node_modules/left-pad/index.js'],
    [
      'at process.processTicksAndRejections (node:internal/process/task_queues:95:5)',
      'node:internal/process/task_queues',
    ],
    ['at node:internal/main/run_main_module:23:47', 'node:internal/main/run_main_module'],
    ['at Array.map (<anonymous>)', '<anonymous>'],
    ['at <anonymous>', '<anonymous>'],
    ['at JSON.parse (native)', 'native'],
    ['at async Promise.all (index 0)', 'index 0'],
  ])('does not count a frame as own code: %s', (line, file) => {
    expect(parseFrame(line, ROOT)).toMatchObject({ file, in_app: false })
  })

  test('counts a folder whose name ends in node_modules as own code', () => {
    expect(parseFrame('at f (/srv/shop/my_node_modules/x.js:1:1)', ROOT)).toMatchObject({
      file: 'my_node_modules/x.js',
      in_app: true,
    })
  })
})

describe('stackLines', () => {
  test('ignores message lines that look like frames', () => {
    const error = new Error('Upstream said:\n    at fake (/evil/place.js:1:1)\n    at other (/evil/place.js:2:2)')
    const lines = stackLines(error.stack ?? '', error.message, 50)
    expect(lines.length).toBeGreaterThan(0)
    expect(lines.join('\n')).not.toContain('/evil/')
  })

  test('ignores frame-like lines in a message of one megabyte', () => {
    const message = '    at fake (/evil/place.js:1:1)\n'.repeat(30_000)
    const lines = stackLines(`TypeError: ${message}\n    at real (/srv/shop/a.js:1:1)`, message, 50)
    expect(lines).toEqual(['at real (/srv/shop/a.js:1:1)'])
  })

  test('limits the number and the length of lines', () => {
    const stack = `Error: x\n${'    at f (/a.js:1:1)\n'.repeat(10_000)}`
    expect(stackLines(stack, 'x', 7)).toHaveLength(7)
    expect(stackLines(`Error: x\n    at ${'f'.repeat(100_000)}`, 'x', 7)[0]?.length).toBeLessThanOrEqual(1000)
  })
})

describe('culpritFrame', () => {
  test("returns the newest frame in the host's own code", () => {
    const backtrace = [
      'at parse (/srv/shop/node_modules/json/index.js:1:1)',
      'at total (/srv/shop/src/cart.ts:12:5)',
      'at main (/srv/shop/src/main.ts:1:1)',
    ]
    const frame = culpritFrame(backtrace, ROOT)
    expect(frame && locationText(frame)).toBe('src/cart.ts:12 in total')
  })

  test('returns the newest frame if all frames are in libraries', () => {
    const frame = culpritFrame(['at parse (/srv/shop/node_modules/json/index.js:1:1)'], ROOT)
    expect(frame && locationText(frame)).toBe('node_modules/json/index.js:1 in parse')
  })

  test('returns null without a backtrace', () => {
    expect(culpritFrame([], ROOT)).toBeNull()
  })
})

test('parses arbitrary text without an exception and keeps the line', () => {
  fc.assert(
    fc.property(fc.oneof(fc.string({ unit: 'binary' }), fc.stringMatching(/^at [()@:/\\ a-z0-9]*$/)), (line) => {
      expect(parseFrame(line, ROOT).line).toBe(line)
    }),
  )
})

describe('relativeLines', () => {
  const lines = [
    'at total (/srv/shop/src/cart.ts:12:5)',
    'at file:///srv/shop/src/main.ts:1:2',
    'at next (/srv/shop/node_modules/express/lib/router.js:3:4)',
    'at elsewhere (/srv/shopping/src/cart.ts:5:6)',
    'at node:internal/timers:7:8',
  ]

  test('makes paths relative without changing the parsed frames', () => {
    const relative = relativeLines(lines, ROOT)
    expect(relative).toEqual([
      'at total (src/cart.ts:12:5)',
      'at src/main.ts:1:2',
      'at next (node_modules/express/lib/router.js:3:4)',
      'at elsewhere (/srv/shopping/src/cart.ts:5:6)',
      'at node:internal/timers:7:8',
    ])
    const parsedParts = (line: string, root: string) => {
      const { file, function_name, line_number, in_app } = parseFrame(line, root)
      return { file: file?.replace(/^\/?node_modules/, 'node_modules'), function_name, line_number, in_app }
    }
    expect(relative.map((line) => parsedParts(line, ROOT))).toEqual(lines.map((line) => parsedParts(line, ROOT)))
  })

  test.each(['', '/'])('does not change lines for the root %j', (root) => {
    expect(relativeLines(lines, root)).toBe(lines)
  })
})

describe('stackLines with long input', () => {
  test('stops searching for frames at a limit', () => {
    const frame = '    at total (/srv/shop/src/cart.ts:12:5)'
    expect(stackLines(`Error\n${'no frame\n'.repeat(10_000)}${frame}`, '', 50)).toHaveLength(1)
    expect(stackLines(`Error\n${'no frame\n'.repeat(30_000)}${frame}`, '', 50)).toEqual([])
  })

  test('finds frames after a message of any length', () => {
    const message = 'm'.repeat(1_000_000)
    expect(stackLines(`Error: ${message}\n    at total (/srv/shop/src/cart.ts:12:5)`, message, 50)).toHaveLength(1)
  })
})
