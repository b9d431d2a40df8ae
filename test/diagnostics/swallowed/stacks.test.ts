import { fileURLToPath } from 'node:url'
import { buildSync } from 'esbuild'
import { expect, test } from 'vitest'
import { describeEachDatabase } from '../../support/databases.js'
import { describeEachRuntime } from '../../support/processes/runtimes.js'
import { freshStorage, type TrackerStorage, withDatabase } from '../../support/tracker.js'
import { hostFile, project, REGISTER, readCounts, run } from './project.js'

const STACKS = hostFile('stacks.mjs')
const TSX = import.meta.resolve('tsx')
/** TypeScript variant of the host. */
const TYPED = STACKS.replace('(label, error) =>', '(label: string, error: { stack?: string }) =>')
const NATIVE_TYPES = ['--experimental-strip-types', '--disable-warning=ExperimentalWarning']

/** Throws and catches on the same line. Minified, the whole file is one line. */
const REPORTING = `
interface Order { id: number }
const load = async (order: Order): Promise<never> => { await null; throw new RangeError('order ' + order.id) }
const failAgain = () => { throw new SyntaxError('in a named handler') }
export async function pay(order: Order): Promise<void> {
  try { await load(order) } catch (error) { console.log(String(error)); await (globalThis as any).report(error) }
  try { JSON.parse('{') } catch (error) { await (globalThis as any).report(error) }
  await load(order).catch(failAgain).catch((error) => (globalThis as any).report(error))
  await load(order).catch((error) => String(error)).then(async (text) => { await (globalThis as any).report(new Error(text)) })
}
const { Tracker } = await import(process.env.FAULTBOARD_TEST_INDEX as string)
;(globalThis as any).report = (error: unknown) => Tracker.report(error)
await pay({ id: 7 })
`

describeEachDatabase(
  'stacks of a host with detection',
  (database) => {
    describeEachRuntime('in every module format', ({ path: node, name }) => {
      const stripsTypes = name !== 'Node.js 20'
      const compiled = () => compiledProject(STACKS, false)

      test.each([
        ['JavaScript', () => project({ 'app.mjs': STACKS }), ['--import', REGISTER, 'app.mjs']],
        ['compiled code', compiled, ['--import', REGISTER, 'dist/app.mjs']],
        ['compiled code with maps', compiled, ['--enable-source-maps', '--import', REGISTER, 'dist/app.mjs']],
        [
          'one minified line with maps',
          () => compiledProject(STACKS, true),
          ['--enable-source-maps', '--import', REGISTER, 'dist/app.mjs'],
        ],
        ['tsx', () => project({ 'app.mts': TYPED }), ['--import', TSX, '--import', REGISTER, 'app.mts']],
        ...(stripsTypes
          ? [
              [
                'types',
                () => project({ 'app.mts': TYPED }),
                [...NATIVE_TYPES, '--import', REGISTER, 'app.mts'],
              ] as const,
            ]
          : []),
      ] as const)('stacks are unchanged in %s, with the same output and exit code', async (_title, make, args) => {
        const storage = await freshStorage(database)
        const folder = make()
        const plain = await run({ node, folder, args, storage, detect: false })
        expect(plain.stdout).toContain('in a handler Error: in a handler')
        expect(plain).toMatchObject({ code: 3, stderr: '' })
        expect(await run({ node, folder, args, storage })).toEqual(plain)
        const counted = await readCounts(storage.url, (location) => location)
        expect(
          Object.keys(counted).filter((location) => /^(?:app\.m[jt]s|src\/app\.mts):[67]:\d+$/.test(location)),
        ).toHaveLength(1)
      })

      test('stacks are unchanged in CommonJS, except for one frame in older Node.js versions', async () => {
        const storage = await freshStorage(database)
        const code = `Error.stackTraceLimit = 50\nvoid (async () => {${STACKS}})()\nprint_('top', new Error('top'))\nfunction print_(label, error) { console.log(label, error.stack) }\n`
        const folder = project({ 'app.cjs': code })
        const args = ['--import', REGISTER, 'app.cjs']
        const plain = await run({ node, folder, args, storage, detect: false })
        expect(plain).toMatchObject({ code: 3, stderr: '' })
        const detected = await run({ node, folder, args, storage })
        const own = /\n {4}at [^\n]*hooks\.cjs:\d+:\d+\)/g
        expect({ ...detected, stdout: detected.stdout.replace(own, '') }).toEqual(plain)
        expect(own.test(detected.stdout)).toBe(!stripsTypes)
      })

      test.each([
        ['compiled code', false],
        ['one minified line', true],
      ])('stacks are unchanged in the recorded errors of %s', async (_title, minify) => {
        const [off, on] = [await freshStorage(database), await freshStorage(database)]
        const folder = compiledProject(REPORTING, minify)
        const args = ['--import', REGISTER, 'dist/app.mjs']
        expect(await run({ node, folder, args, storage: off, detect: false })).toMatchObject({ code: 0, stderr: '' })
        expect(await run({ node, folder, args, storage: on })).toMatchObject({ code: 0, stderr: '' })
        const recorded = await recordedAt(off)
        expect(recorded).toHaveLength(4)
        expect(recorded.map(({ content }) => content).join()).toContain('src/app.mts:3:74')
        expect(await recordedAt(on)).toEqual(recorded)
      })
    })

    test('prints a warning if the TypeScript loader is imported second', async () => {
      const storage = await freshStorage(database)
      const folder = project({ 'app.mts': TYPED })
      const args = ['--import', REGISTER, '--import', TSX, 'app.mts']
      const { stderr, code } = await run({ node: process.execPath, folder, args, storage })
      expect(code).toBe(3)
      if (process.versions.node.startsWith('20.')) {
        expect(stderr.trim().split('\n')).toEqual([
          expect.stringContaining('--import tsx --import faultboard/register'),
        ])
      }
    })
  },
  { except: ['postgres', 'mysql'] },
)

/** Creates a project compiled to `dist` with an external source map. */
function compiledProject(source: string, minify: boolean): string {
  const folder = project({ 'src/app.mts': source })
  buildSync({
    entryPoints: [`${folder}/src/app.mts`],
    outfile: `${folder}/dist/app.mjs`,
    sourcemap: true,
    minify,
    format: 'esm',
    target: 'node20',
    absWorkingDir: fileURLToPath(new URL('../../..', import.meta.url)),
  })
  return folder
}

/** Reads the recorded errors without the frames of the Node.js event loop, which depend on timing. */
function recordedAt({ url }: TrackerStorage) {
  return withDatabase(url, async ({ read }) => {
    const rows = await read
      .selectFrom('faultboard_errors')
      .innerJoin('faultboard_payloads', 'faultboard_payloads.error_id', 'faultboard_errors.id')
      .select(['hash_signature', 'message', 'place', 'content'])
      .orderBy('hash_signature')
      .execute()
    return rows.map((row) => ({ ...row, content: row.content.replaceAll(/,"at [^"]*\(node:internal[^"]*"/g, '') }))
  })
}
