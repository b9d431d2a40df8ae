import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { describeEachDatabase } from '../../support/databases.js'
import { describeEachRuntime } from '../../support/processes/runtimes.js'
import { freshStorage, type TrackerStorage } from '../../support/tracker.js'
import { type Counted, hostFile, project, REGISTER, readFileCounts, run } from './project.js'

const CASES = hostFile('cases.mjs')
const IGNORE = { FAULTBOARD_SWALLOWED_EXCEPTION_IGNORE_CLASSES: 'Declined' }

/** Expected counts of each raise location. */
const EXPECTED: Record<string, Counted> = {
  plain: swallowed('plain empty'),
  rethrown: swallowed('rethrown empty'),
  rethrown_and_reported: reported(),
  through_finally: swallowed('through_finally logs'),
  nested_outer: swallowed('nested_outer other'),
  nested_inner: swallowed('nested_inner empty', 'TypeError'),
  cause_reported: reported(),
  wrapped_reported: reported('TypeError'),
  cause: unaccounted(),
  wrapped: swallowed('wrapped value', 'TypeError'),
  replaced: unaccounted(),
  replacement: swallowed('replacement empty', 'TypeError'),
  concurrent: unaccounted(20),
  concurrent_replacement: {
    error_type: 'TypeError',
    raised: 20,
    reported: 0,
    rescued: { 'concurrent_replacement reference': 20 },
  },
  deepest: unaccounted(),
  wrapped_per_level: { error_type: 'TypeError', raised: 4, reported: 0, rescued: { 'wrapped_per_level empty': 1 } },
  same_name_outer: unaccounted(),
  same_name_inner: swallowed('same_name_inner empty', 'RangeError'),
  same_name: swallowed('same_name empty', 'TypeError'),
  same_variable: unaccounted(2),
  shadowing: swallowed('same_variable empty', 'TypeError'),
  assigned: swallowed('same_variable empty', 'TypeError'),
  destructured_original: unaccounted(),
  destructured_replacement: swallowed('destructured_replacement empty', 'TypeError'),
  replaced_by_handler: unaccounted(),
  thrown_by_handler: swallowed('thrown_by_handler reference', 'TypeError'),
  awaited: swallowed('awaited empty'),
  promise_catch: {
    error_type: 'Error',
    raised: 2,
    reported: 0,
    rescued: { 'promise_catch logs': 1, 'promise_catch_empty empty': 1 },
  },
  promise_then: swallowed('promise_then other'),
  destructured: swallowed('destructured value'),
  unnamed: swallowed('unnamed value'),
  parsed: swallowed('parsed other', 'SyntaxError'),
  raised_in_library: swallowed('raised_in_library empty', 'RangeError'),
  swallowed_by_library: unaccounted(),
  text: swallowed('text value', 'string'),
  finally_returns: unaccounted(),
  reported: reported(),
  retried: {
    error_type: 'Error',
    raised: 3,
    reported: 0,
    rescued: { 'retried value': 2, 'retries_exhausted empty': 1 },
  },
  handed_to_next: reported(),
  by_reference: swallowed('by_reference reference'),
  generated: swallowed('generated empty'),
  all_settled: unaccounted(2),
  constant: { error_type: 'RangeError', raised: 3, reported: 0, rescued: { 'constant empty': 3 } },
  aggregated: { error_type: 'Error', raised: 2, reported: 2, rescued: {} },
  // V8 creates it without a stack, so only its handler is known.
  '~aggregated_in': reported('AggregateError'),
}

describeEachDatabase(
  'swallowed exceptions',
  (database) => {
    describeEachRuntime('with several handlers', ({ path: node }) => {
      test('swallowed exceptions are counted per location in CommonJS, an ES module and a module without an explicit type', async () => {
        const storage = await freshStorage(database)
        const files = { 'cases.cjs': commonjs(CASES, MORE), 'cases.mjs': CASES, 'cases.js': commonjs(CASES) }
        const { stderr, ...end } = await runCases(node, storage, files, ['--import', REGISTER])
        expect(end).toEqual({ stdout: 'done\n'.repeat(3), code: 0 })
        expect(stderr).toBe('logged through finally\npromise\n'.repeat(3))
        for (const [file, code] of Object.entries(files))
          expect(await readFileCounts(storage.url, file, code)).toEqual(EXPECTED)
      })

      test('swallowed exceptions are counted per location in CommonJS preloaded with -r', async () => {
        const storage = await freshStorage(database)
        const files = { 'cases.cjs': commonjs(CASES) }
        // Below 24, Node.js prints an ExperimentalWarning for -r with an ES module.
        const { stdout, code } = await runCases(node, storage, files, ['-r', fileURLToPath(REGISTER)])
        expect({ stdout, code }).toEqual({ stdout: 'done\n', code: 0 })
        expect(await readFileCounts(storage.url, 'cases.cjs', files['cases.cjs'])).toEqual(EXPECTED)
      })
    })
  },
  { except: ['postgres', 'mysql'] },
)

const MORE = "await import('./cases.mjs')\nrequire('./cases.js')\n"

/** Converts the cases to CommonJS. The last lines run after the cases. */
function commonjs(code: string, lastLines = ''): string {
  return code
    .replace("import library from 'library'", "const library = require('library'); void (async () => {")
    .replace(/\nconsole\.log\('done'\)\n$/, `\nconsole.log('done')\n${lastLines}})()\n`)
}

function runCases(node: string, storage: TrackerStorage, files: Record<string, string>, flags: readonly string[]) {
  return run({ node, folder: project(files), args: [...flags, 'cases.cjs'], storage, env: IGNORE })
}

function swallowed(handler: string, error_type = 'Error'): Counted {
  return { error_type, raised: 1, reported: 0, rescued: { [handler]: 1 } }
}

function reported(error_type = 'Error'): Counted {
  return { error_type, raised: 1, reported: 1, rescued: {} }
}

function unaccounted(raised = 1): Counted {
  return { error_type: 'Error', raised, reported: 0, rescued: {} }
}
