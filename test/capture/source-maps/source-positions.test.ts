import { execFileSync } from 'node:child_process'
import { mkdirSync, realpathSync, writeFileSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { build } from 'esbuild'
import { describe, expect, test } from 'vitest'
import { SourcePositions } from '../../../src/capture/source-maps/source-positions.js'
import { describeThrown } from '../../../src/capture/values/thrown-value.js'
import { parseFrame } from '../../../src/model/stacks/backtrace.js'
import { codePlace } from '../../../src/model/stacks/code-place.js'
import { temporaryFolder } from '../../support/tracker.js'

const CART_SOURCE = `export interface Line { price: number }

export class Cart {
  lines: Line[] = []
  total(): number {
    throw new RangeError('no price')
  }
}

export async function pay(cart: Cart): Promise<void> {
  await null
  type Unused = { a: string }
  try {
    cart.total()
  } catch (cause) {
    throw new Error('not paid', { cause })
  }
}
`

const MAIN_SOURCE = `import { fail } from 'shelf'
import { Cart, pay } from './cart.js'

interface SerializedError { message: string; stack: string; cause?: SerializedError }
function serialize(error: any): SerializedError {
  return { message: error.message, stack: error.stack, ...(error.cause ? { cause: serialize(error.cause) } : {}) }
}
async function serializeThrown(work: () => unknown): Promise<SerializedError> {
  try {
    await work()
  } catch (error) {
    return serialize(error)
  }
  throw new Error('nothing was thrown')
}
console.log(JSON.stringify({
  sync: await serializeThrown(() => new Cart().total()),
  async: await serializeThrown(() => pay(new Cart())),
  library: await serializeThrown(() => fail()),
}))
`

interface SerializedError {
  message: string
  stack: string
  cause?: SerializedError
}
type Report = Record<'sync' | 'async' | 'library', SerializedError>

/** Creates a TypeScript project with one library, not compiled yet. */
function writeShop(extra: Record<string, string> = {}): string {
  const root = realpathSync(temporaryFolder())
  const files = {
    'package.json': '{"type":"module"}',
    'src/cart.ts': CART_SOURCE,
    'src/main.ts': MAIN_SOURCE,
    'node_modules/shelf/package.json': '{"name":"shelf","type":"module","exports":"./index.js"}',
    'node_modules/shelf/index.js': 'export function fail() {\n  throw new TypeError("shelf")\n}\n',
    ...extra,
  }
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(join(root, name)), { recursive: true })
    writeFileSync(join(root, name), text)
  }
  return root
}

function run(file: string, flags: string[] = []): Report {
  return JSON.parse(execFileSync(process.execPath, [...flags, file], { encoding: 'utf8' }))
}

/** Recreates the error of the other process. */
function recreateError({ message, stack, cause }: SerializedError): Error {
  const error = Object.assign(new Error(message), { stack })
  return cause ? Object.assign(error, { cause: recreateError(cause) }) : error
}

function describeFrames(error: SerializedError, root: string, positions = new SourcePositions({ project_root: root })) {
  const { backtrace, causes } = describeThrown(recreateError(error), 50, positions)
  const parsedFrames = (lines: readonly string[]) =>
    lines
      .map((line) => parseFrame(line, root))
      .map(({ file, line_number, function_name, in_app }) => ({ file, line_number, function_name, in_app }))
  return { own: parsedFrames(backtrace), cause: parsedFrames(causes[0]?.backtrace ?? []) }
}

const TOTAL_FRAME = { file: 'src/cart.ts', line_number: 6, in_app: true }
const PAY_FRAME = { file: 'src/cart.ts', line_number: 16, in_app: true }
const PAY_CALL_FRAME = { file: 'src/cart.ts', line_number: 14, in_app: true }

function expectOriginal(report: Report, root: string): void {
  const named = (frame: object, function_name: string) => ({ ...frame, function_name })
  const sync = describeFrames(report.sync, root).own
  expect(sync[0]).toMatchObject(named(TOTAL_FRAME, 'Cart.total'))
  expect(sync[1]).toMatchObject({ file: 'src/main.ts', line_number: 17, in_app: true })
  const { own, cause } = describeFrames(report.async, root)
  expect(own[0]).toMatchObject(named(PAY_FRAME, 'pay'))
  expect(cause[0]).toMatchObject(named(TOTAL_FRAME, 'Cart.total'))
  expect(cause[1]).toMatchObject(named(PAY_CALL_FRAME, 'pay'))
  const library = describeFrames(report.library, root).own
  expect(library[0]).toMatchObject({ file: 'node_modules/shelf/index.js', line_number: 2, in_app: false })
  expect(library.find(({ in_app }) => in_app)).toMatchObject({ file: 'src/main.ts', line_number: 19 })
}

describe('stack of compiled code', () => {
  test.each(['--sourceMap', '--inlineSourceMap'])('maps a stack compiled by tsc %s', (flag) => {
    const root = writeShop()
    const options = 'src/main.ts --rootDir src --outDir dist --module nodenext --target es2022 --noCheck'.split(' ')
    execFileSync(process.execPath, [resolve('node_modules/typescript/bin/tsc'), ...options, flag], { cwd: root })
    const report = run(join(root, 'dist/main.js'))
    expect(report.sync.stack).toContain('dist/cart.js')
    expectOriginal(report, root)
  })

  test.each([
    { minify: false, sourcemap: 'linked' },
    { minify: false, sourcemap: 'inline' },
    { minify: true, sourcemap: 'linked' },
    { minify: true, sourcemap: 'inline' },
  ] as const)('maps a stack bundled by esbuild %o', async ({ minify, sourcemap }) => {
    const root = writeShop()
    const report = run(await bundle(root, { minify, sourcemap }))
    expect(report.sync.stack).toContain('dist/bundle')
    expectOriginal(report, root)
  })

  test('keeps the location and group of an error across bundles', async () => {
    const places = ['', 'export const unused = console.error\n// longer\n'].map(async (head) => {
      const root = writeShop({ 'src/cart.ts': `${head}${CART_SOURCE}` })
      const file = await bundle(root, { minify: false, sourcemap: 'linked', entryNames: 'bundle-[hash]' })
      const { backtrace } = describeThrown(
        recreateError(run(file).sync),
        50,
        new SourcePositions({ project_root: root }),
      )
      return { file: file.slice(root.length), place: codePlace(backtrace, root) }
    })
    const [first, second] = await Promise.all(places)
    expect(first?.file).not.toBe(second?.file)
    expect(first?.place[0]).toBe('src/cart.ts#Cart.total')
    expect(second?.place).toEqual(first?.place)
  })

  test('does not change a stack that Node.js has already mapped', async () => {
    const root = writeShop()
    const file = await bundle(root, { minify: false, sourcemap: 'linked' })
    const report = run(file, ['--enable-source-maps'])
    const lines = describeThrown(recreateError(report.sync), 50).backtrace
    expect(lines[0]).toContain('src/cart.ts:6')
    expect(new SourcePositions({ project_root: root }).original(lines)).toBe(lines)
  })
})

describe('repeated stacks', () => {
  test('returns one frozen array for a repeated stack', async () => {
    const root = writeShop()
    const positions = new SourcePositions({ project_root: root })
    const { sync } = run(await bundle(root, { minify: false, sourcemap: 'linked' }))
    const first = describeThrown(recreateError(sync), 50, positions).backtrace
    expect(describeThrown(recreateError(sync), 50, positions).backtrace).toBe(first)
    expect(Object.isFrozen(first)).toBe(true)
    expect(positions.original(first)).toBe(first)
    expect(describeThrown(recreateError(sync), 50).backtrace).not.toEqual(first)
  })
})

async function bundle(
  root: string,
  options: { minify: boolean; sourcemap: 'linked' | 'inline'; entryNames?: string },
): Promise<string> {
  const { metafile } = await build({
    entryPoints: [join(root, 'src/main.ts')],
    absWorkingDir: root,
    outdir: join(root, 'dist'),
    entryNames: 'bundle',
    bundle: true,
    platform: 'node',
    format: 'esm',
    metafile: true,
    ...options,
  })
  const name = Object.keys(metafile.outputs).find((output) => output.endsWith('.js'))
  return join(root, name ?? '')
}
