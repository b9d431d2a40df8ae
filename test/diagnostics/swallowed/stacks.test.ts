import { transformSync } from 'esbuild'
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

const COMPILED = {
  ...compiledFiles('compiled', STACKS),
  ...compiledFiles('minified', STACKS, true),
  ...compiledFiles('reporting', REPORTING),
  ...compiledFiles('minified-reporting', REPORTING, true),
}

/** Prints its stacks first, with all frames, and then those of the other modules. */
const ENTRY = `Error.stackTraceLimit = 50
void (async () => {${STACKS}
Error.stackTraceLimit = 10
console.log('modules')
await import('./modules.mjs')
})()
print_('top', new Error('top'))
function print_(label, error) { console.log(label, error.stack) }
`

describeEachDatabase(
  'stacks of a host with detection',
  (database) => {
    describeEachRuntime('in every module format', ({ path: node, name }) => {
      const stripsTypes = name !== 'Node.js 20'

      test('stacks are unchanged in every module format and in recorded errors, except for one CommonJS frame in older Node.js versions', async () => {
        const [off, on] = [await freshStorage(database), await freshStorage(database)]
        const modules = [
          './app.mjs',
          ...(stripsTypes ? ['./types.mts'] : []),
          './dist/compiled.mjs',
          './dist/reporting.mjs',
          './dist/minified-reporting.mjs',
        ]
        const folder = project({
          'app.cjs': ENTRY,
          'modules.mjs': modules.map((file) => `import '${file}'\n`).join(''),
          'app.mjs': STACKS,
          'types.mts': TYPED,
          ...COMPILED,
        })
        const args = [...(stripsTypes ? NATIVE_TYPES : []), '--import', REGISTER, 'app.cjs']
        const plain = await run({ node, folder, args, storage: off, detect: false })
        expect(plain).toMatchObject({ code: 3, stderr: '' })
        const [plainEntry = '', plainModules = ''] = plain.stdout.split('modules\n')
        expect(plainEntry).toContain('in a handler Error: in a handler')
        expect(plainModules.match(/^in a handler Error: in a handler$/gm)).toHaveLength(stripsTypes ? 3 : 2)

        const { stdout, ...end } = await run({ node, folder, args, storage: on })
        expect(end).toEqual({ code: 3, stderr: '' })
        const [detectedEntry = '', detectedModules] = stdout.split('modules\n')
        expect(detectedModules).toBe(plainModules)
        const own = /\n {4}at [^\n]*hooks\.cjs:\d+:\d+\)/g
        expect(detectedEntry.replace(own, '')).toBe(plainEntry)
        expect(own.test(detectedEntry)).toBe(!stripsTypes)
        expect(await raisingFiles(on)).toEqual([
          'app.mjs',
          'src/compiled.mts',
          'src/minified-reporting.mts',
          'src/reporting.mts',
          ...(stripsTypes ? ['types.mts'] : []),
        ])

        const recorded = await recordedAt(off)
        expect(recorded).toHaveLength(8)
        const contents = recorded.map(({ content }) => content).join()
        expect(contents).toContain('src/reporting.mts:3:74')
        expect(contents).toContain('src/minified-reporting.mts:3:74')
        expect(await recordedAt(on)).toEqual(recorded)
      })

      // Node.js 22 and 24 load modules with the same hooks.
      if (name === 'Node.js 22') return

      test.each([
        [
          'code compiled with maps',
          'maps.mjs',
          {
            ...COMPILED,
            'maps.mjs': `import './dist/compiled.mjs'\nimport './dist/minified.mjs'\n`,
          },
          ['--enable-source-maps', '--import', REGISTER],
          ['src/compiled.mts', 'src/minified.mts'],
        ],
        ['tsx', 'app.mts', { 'app.mts': TYPED }, ['--import', TSX, '--import', REGISTER], ['app.mts']],
      ] as const)(
        'stacks are unchanged in %s, with the same output and exit code',
        async (_title, file, files, flags, sources) => {
          const storage = await freshStorage(database)
          const folder = project(files)
          const args = [...flags, file]
          const plain = await run({ node, folder, args, storage, detect: false })
          expect(plain.stdout).toContain('in a handler Error: in a handler')
          expect(plain).toMatchObject({ code: 3, stderr: '' })
          expect(await run({ node, folder, args, storage })).toEqual(plain)
          expect(await raisingFiles(storage)).toEqual(sources)
        },
      )
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

/** Compiles a TypeScript file of `src` to `dist` with an external source map. */
function compiledFiles(name: string, source: string, minify = false): Record<string, string> {
  const { code, map } = transformSync(source, {
    loader: 'ts',
    sourcefile: `../src/${name}.mts`,
    sourcemap: true,
    minify,
    format: 'esm',
    target: 'node20',
  })
  return {
    [`src/${name}.mts`]: source,
    [`dist/${name}.mjs`]: `${code}//# sourceMappingURL=${name}.mjs.map\n`,
    [`dist/${name}.mjs.map`]: map,
  }
}

/** Lists the source files whose raise on line 6 or 7 was counted, in compiled code by its source map. */
async function raisingFiles({ url }: TrackerStorage): Promise<string[]> {
  const locations = Object.keys(await readCounts(url, (location) => location))
  return locations.flatMap((location) => /^([^:]*\.(?:mjs|mts)):[67]:\d+$/.exec(location)?.[1] ?? []).sort()
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
