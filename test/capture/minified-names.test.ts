import { execFileSync } from 'node:child_process'
import { mkdirSync, realpathSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type BuildOptions, build } from 'esbuild'
import { describe, expect, test } from 'vitest'
import { SourcePositions } from '../../src/capture/source-maps/source-positions.js'
import { errorSignature } from '../../src/model/grouping/signature.js'
import { stackLines } from '../../src/model/stacks/backtrace.js'
import { codePlace } from '../../src/model/stacks/code-place.js'
import { temporaryFolder } from '../support/tracker.js'

const SHOP_SOURCE = `export function price(n: number): number {
  if (n > 0) throw new Error('no price')
  return total(n)
}
export function total(n: number): number {
  const sum = price(n + 1)
  return sum + 1
}
export async function pay(n: number): Promise<number> {
  await null
  const sum = await bill(n)
  return sum + 1
}
async function bill(n: number): Promise<number> {
  await null
  const sum = total(n)
  return sum + 1
}
class Order {
  constructor(n: number) {
    total(n)
  }
}
export const order = (n: number): Order => {
  const made = new Order(n)
  return made
}
class Cart {
  lines = [1]
  count(): number {
    const [sum] = this.lines.map(total)
    return sum as number
  }
}
class Basket extends Cart {}
export const cart = (): number => new Cart().count()
export const basket = (): number => new Basket().count()
`

const UNRELATED_SOURCE = `export function stock(shelf: number, room: number): number[] {
  return [shelf, room].map(weigh)
}
function weigh(one: number): number {
  return one * Math.random() + stock.length
}
if (process.argv.length > 90) console.log(stock(1, 2), weigh(3))
`

const MAIN_SOURCE = `import { basket, cart, order, pay, total } from './shop.js'
const calls: Record<string, () => unknown> = { total: () => total(1), pay: () => pay(1), order: () => order(1), cart, basket }
const stacks: Record<string, string> = {}
for (const [name, call] of Object.entries(calls)) {
  try {
    await call()
  } catch (error: any) {
    stacks[name] = error.stack
  }
}
console.log(JSON.stringify(stacks))
`

/** Runs a bundle of the shop. Returns the stack of every call, mapped to the source. */
async function bundleStacks(shop: string, options: BuildOptions): Promise<Record<string, MappedStack>> {
  const root = realpathSync(temporaryFolder())
  mkdirSync(join(root, 'src'))
  writeFileSync(join(root, 'src/shop.ts'), shop)
  writeFileSync(join(root, 'src/main.ts'), MAIN_SOURCE)
  const outfile = join(root, 'dist/main.mjs')
  const common = { bundle: true, platform: 'node', format: 'esm', sourcemap: true, absWorkingDir: root } as const
  await build({ entryPoints: [join(root, 'src/main.ts')], outfile, ...common, ...options })
  const positions = new SourcePositions({ project_root: root })
  const stacks: Record<string, string> = JSON.parse(execFileSync(process.execPath, [outfile], { encoding: 'utf8' }))
  return Object.fromEntries(
    Object.entries(stacks).map(([name, stack]) => {
      const lines = positions.original(stackLines(stack, 'no price', 50))
      const place = codePlace(lines, root)
      const names = lines.map((line) => /^at ((?:async |new )*[\w$.]+) \(.*shop\.ts/.exec(line)?.[1])
      const hash_signature = errorSignature({ error_type: 'Error', message: 'no price', place })
      return [name, { names: names.filter((functionName) => functionName !== undefined), place, hash_signature }]
    }),
  )
}

interface MappedStack {
  names: string[]
  place: string[]
  hash_signature: string
}

describe('stack of a minified bundle', () => {
  test('restores the function names of the source for every kind of call', async () => {
    const stacks = await bundleStacks(SHOP_SOURCE, { minify: true })
    const names = Object.fromEntries(Object.entries(stacks).map(([name, stack]) => [name, stack.names]))
    expect(names).toEqual({
      total: ['price', 'total'],
      pay: ['price', 'total', 'bill', 'async pay'],
      order: ['price', 'total', 'new Order', 'order'],
      cart: ['price', 'total', 'Cart.count', 'cart'],
      // The class is declared after the method that it inherits, so its minified name is omitted.
      basket: ['price', 'total', 'count', 'basket'],
    })
  })

  test('keeps the group of an error after an unrelated change', async () => {
    const before = await bundleStacks(SHOP_SOURCE, { minify: true })
    const after = await bundleStacks(`${UNRELATED_SOURCE}${SHOP_SOURCE}`, { minify: true })
    expect(after).toEqual(before)
    expect(before.total?.place.slice(0, 2)).toEqual(['src/shop.ts#price', 'src/shop.ts#total'])
  })

  test('keeps names that were not renamed', async () => {
    const plain = await bundleStacks(SHOP_SOURCE, {})
    const kept = await bundleStacks(SHOP_SOURCE, { minify: true, keepNames: true })
    expect(plain.basket?.names).toEqual(['price', 'total', 'Basket.count', 'basket'])
    // V8 reads the class of an object from the code even if names are kept.
    expect({ ...kept, basket: plain.basket }).toEqual(plain)
  })
})
