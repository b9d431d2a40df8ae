import { execFileSync } from 'node:child_process'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { gzipSync } from 'node:zlib'
import { parse } from 'acorn'
import { build } from 'esbuild'
import { describe, expect, test } from 'vitest'
import { faultboard, workingDirectory } from '../cli/faultboard.js'
import { describeInBrowser } from '../support/browser.js'
import { bundleClient, openShop } from './shop.js'

const SHOP = `
import { start } from '${resolve('src/browser/client.ts')}'
export const client = start({ endpoint: '/client_errors', app_version: '2.0.0' })
`

describe('Bundle of the browser client', () => {
  test('the bundle is smaller than 3.2 KB and uses only ES2018', async () => {
    const script = await bundleClient()
    expect(gzipSync(script, { level: 9 }).length).toBeLessThan(3_200)
    expect(() => parse(script, { ecmaVersion: 2018 })).not.toThrow()
  })

  test('bundlers remove the client from pages that do not use it', async () => {
    const contents = `import { start } from './src/browser/client.ts'\nconsole.log(1)`
    const stdin = { contents, resolveDir: resolve('.') }
    expect(await bundleClient({ entryPoints: [], stdin, format: 'esm' })).toBe('console.log(1);\n')
  })

  test('does nothing in server-side rendering', async () => {
    const cwd = await workingDirectory({ 'package.json': '{"type":"module"}' })
    const contents = `${SHOP}
      client.report(new Error('on the server'), { component: 'Page' })
      client.setContext({ a: 1 }); client.setUser('u'); client.addBreadcrumb({ category: 'a', message: 'b' })
      await client.flush(); await client.stop()
      console.log('rendered')`
    const stdin = { contents, resolveDir: cwd, loader: 'ts' as const }
    await build({ stdin, bundle: true, format: 'esm', outfile: join(cwd, 'page.js'), target: 'es2022' })
    const output = execFileSync(process.execPath, ['page.js'], {
      cwd,
      encoding: 'utf8',
      stdio: 'pipe',
      timeout: 20_000,
    })
    expect(output).toBe('rendered\n')
  })
})

const MAIN = `${SHOP}
import { total } from './cart'
document.querySelector('button').onclick = () => { console.log(total([])) }
`
const CART = `
export function total(items: number[]): number {
  if (items.length === 0) throw new RangeError('the cart is empty')
  return items.length
}
`

describeInBrowser('Bundle of an application', ({ open }) => {
  const shop = openShop()

  test('shows an error at its original position after faultboard sourcemaps upload', async () => {
    const cwd = await workingDirectory({ 'package.json': '{"name":"shop"}' })
    mkdirSync(join(cwd, 'src'))
    writeFileSync(join(cwd, 'src/cart.ts'), CART)
    writeFileSync(join(cwd, 'src/main.ts'), MAIN)
    await build({
      absWorkingDir: cwd,
      entryPoints: ['src/main.ts'],
      outdir: join(cwd, 'dist'),
      bundle: true,
      minify: true,
      format: 'esm',
      sourcemap: 'external',
    })
    const upload = await faultboard(['sourcemaps', 'upload', 'dist', '--release', '2.0.0'], { cwd, env: shop.env })
    expect(upload).toMatchObject({ code: 0, stderr: '' })
    shop.files['/main.js'] = { type: 'text/javascript', body: readFileSync(join(cwd, 'dist/main.js'), 'utf8') }
    shop.files['/cart'] = {
      type: 'text/html',
      body: '<button>Pay</button><script type="module" src="/main.js"></script>',
    }
    const page = await open()
    await page.goto(`${shop.origin}/cart`)
    await page.click('button')
    await expect.poll(() => shop.count('the cart is empty'), { timeout: 15_000 }).toBe(1)
    const error = await shop.find('the cart is empty')
    expect(error).toMatchObject({ error_type: 'RangeError', app_version: '2.0.0', place: 'src/cart.ts:3 in total' })
    expect(error.backtrace[1]).toMatch(/src\/main\.ts:\d+:\d+/)
    expect(error.breadcrumbs).toMatchObject([{ category: 'click', message: 'html > body > button' }])
    await page.context().close()
  })
})
