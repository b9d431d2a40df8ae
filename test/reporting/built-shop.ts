import { execFileSync } from 'node:child_process'
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { build } from 'esbuild'

/** A bundle for browsers as esbuild makes it, and the stack of what it throws as each browser would print it. */
export interface BuiltShop {
  /** With the script and its map. */
  folder: string
  script: string
  map: string
  code: string
  stacks: { chrome: string; firefox: string; safari: string }
}

export const SITE = 'https://cdn.shop.example/assets/'

export const CART = `
export class Cart {
  items: number[] = []
  total(): number {
    return priceOf(this.items)
  }
}
function priceOf(items: number[]): number {
  if (items.length === 0) throw new RangeError('the cart is empty')
  return items.reduce((sum, price) => sum + price, 0)
}
`

const MAIN = `
import { Cart } from './cart'
const announce = (cart: Cart) => console.log(cart.total())
export function checkout() { announce(new Cart()) }
checkout()
`

/** `edit` goes before everything else: in the next build the minifier gives all names anew. */
export async function builtShop(folder: string, edit = ''): Promise<BuiltShop> {
  mkdirSync(join(folder, 'src'), { recursive: true })
  writeFileSync(join(folder, 'src/cart.ts'), `${edit}${CART}`)
  writeFileSync(join(folder, 'src/main.ts'), MAIN)
  const outdir = join(folder, 'dist/assets')
  await build({
    absWorkingDir: folder,
    entryPoints: ['src/main.ts'],
    outdir,
    entryNames: '[name]-[hash]',
    bundle: true,
    minify: true,
    format: 'iife',
    sourcemap: 'external',
  })
  const script = readdirSync(outdir).find((name) => name.endsWith('.js')) ?? ''
  const code = readFileSync(join(outdir, script), 'utf8')
  const map = readFileSync(join(outdir, `${script}.map`), 'utf8')
  return { folder: outdir, script, map, code, stacks: stacksOf(code, `${SITE}${script}`) }
}

/** V8 is run; the others print the same frames in another shape, and with columns of their own. */
function stacksOf(code: string, filename: string): BuiltShop['stacks'] {
  const chrome = thrownBy(code, filename)
  const frames = chrome
    .split('\n')
    .map((line) => /^\s+at (?:(.+) \()?(https:.+):(\d+):(\d+)\)?$/.exec(line))
    .filter((match) => match !== null)
  const printed = (column: (name: string, column: number) => number) =>
    frames
      .map(([, name = '', url, line, at]) => {
        const plain = (name.split('.').at(-1) ?? '').replace(/^new /, '').replace('<anonymous>', '')
        return `${plain}@${url}:${line}:${column(plain, Number(at))}`
      })
      .join('\n')
  return {
    chrome,
    firefox: printed((_name, column) => column),
    safari: printed((name, column) => column + name.length),
  }
}

const RUN = `
const [code, filename] = process.argv.slice(1)
try {
  require('node:vm').runInNewContext(code, { console }, { filename })
} catch (error) {
  const [head, ...frames] = error.stack.slice(error.stack.indexOf('RangeError:')).split('\\n')
  console.log([head, ...frames.filter((line) => line.includes('https:'))].join('\\n'))
}`

/** In a process of its own: the runner of the tests moves the columns of every stack in its own. */
function thrownBy(code: string, filename: string): string {
  return execFileSync(process.execPath, ['-e', RUN, code, filename], { encoding: 'utf8' }).trim()
}
