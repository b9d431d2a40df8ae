import { execFileSync } from 'node:child_process'
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { build } from 'esbuild'

/** Bundle of esbuild for browsers, with the stack of its error in the format of each browser. */
export interface BuiltShop {
  /** Contains the script and its map. */
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

/** Builds the bundle. `edit` is prepended to the source, so that the minifier assigns other names. */
export async function buildShop(folder: string, edit = ''): Promise<BuiltShop> {
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
  return { folder: outdir, script, map, code, stacks: stacksInBrowsers(code, `${SITE}${script}`) }
}

/** Runs V8 for the stack of Chrome and converts it to the formats and columns of Firefox and Safari. */
function stacksInBrowsers(code: string, filename: string): BuiltShop['stacks'] {
  const chrome = stackThrownBy(code, filename)
  const frames = chrome
    .split('\n')
    .map((line) => /^\s+at (?:(.+) \()?(https:.+):(\d+):(\d+)\)?$/.exec(line))
    .filter((match) => match !== null)
  const v8Stack = (column: (name: string, column: number) => number) =>
    frames
      .map(([, name = '', url, line, at]) => {
        const plain = (name.split('.').at(-1) ?? '').replace(/^new /, '').replace('<anonymous>', '')
        return `${plain}@${url}:${line}:${column(plain, Number(at))}`
      })
      .join('\n')
  return {
    chrome,
    firefox: v8Stack((_name, column) => column),
    safari: v8Stack((name, column) => column + name.length),
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

/** Runs the bundle in a new process, because the test runner changes the columns of stacks in its own. */
function stackThrownBy(code: string, filename: string): string {
  return execFileSync(process.execPath, ['-e', RUN, code, filename], { encoding: 'utf8' }).trim()
}
