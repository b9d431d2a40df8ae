import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { describeEachDatabase } from '../support/databases.js'
import { describeEachRuntime } from '../support/runtimes.js'
import { freshPlace } from '../support/tracker.js'
import { type Counted, countedAt, hostFile, namesIn, project, REGISTER, run } from './swallowed-project.js'

const CASES = hostFile('cases.mjs')
const IGNORE = { FAULTBOARD_SWALLOWED_EXCEPTION_IGNORE_CLASSES: 'Declined' }

/** Each place that raises, what it raises, and what became of it. */
const EXPECTED: Record<string, Counted> = {
  plain: swallowed('plain empty'),
  rethrown: swallowed('rethrown empty'),
  rethrown_and_reported: reported(),
  through_finally: swallowed('through_finally logs'),
  nested_outer: swallowed('nested_outer other'),
  nested_inner: swallowed('nested_inner empty', 'TypeError'),
  cause_reported: reported(),
  wrapped_reported: reported('TypeError'),
  cause: vanished(),
  wrapped: swallowed('wrapped value', 'TypeError'),
  replaced: vanished(),
  replacement: swallowed('replacement empty', 'TypeError'),
  at_once: vanished(20),
  instead_at_once: {
    error_type: 'TypeError',
    raised: 20,
    reported: 0,
    rescued: { 'instead_at_once reference': 20 },
  },
  deepest: vanished(),
  on_the_way: { error_type: 'TypeError', raised: 4, reported: 0, rescued: { 'on_the_way empty': 1 } },
  same_name_outer: vanished(),
  same_name_inner: swallowed('same_name_inner empty', 'RangeError'),
  same_name: swallowed('same_name empty', 'TypeError'),
  under_its_name: vanished(2),
  shadowing: swallowed('under_its_name empty', 'TypeError'),
  assigned: swallowed('under_its_name empty', 'TypeError'),
  in_parts: vanished(),
  of_parts: swallowed('of_parts empty', 'TypeError'),
  by_a_handler: vanished(),
  of_a_handler: swallowed('of_a_handler reference', 'TypeError'),
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
  of_a_library: swallowed('of_a_library empty', 'RangeError'),
  swallowed_by_a_library: vanished(),
  text: swallowed('text value', 'string'),
  finally_returns: vanished(),
  reported: reported(),
  retried: { error_type: 'Error', raised: 3, reported: 0, rescued: { 'retried value': 2, 'retried_in_vain empty': 1 } },
  handed_to_next: reported(),
  by_reference: swallowed('by_reference reference'),
  generated: swallowed('generated empty'),
  all_settled: vanished(2),
  constant: { error_type: 'RangeError', raised: 3, reported: 0, rescued: { 'constant empty': 3 } },
  gathered: { error_type: 'Error', raised: 2, reported: 2, rescued: {} },
  // Made by V8 itself, it has no stack: all that is known is who took it.
  '~gathered_in': reported('AggregateError'),
}

describeEachDatabase(
  'swallowed exceptions of a host',
  (database) => {
    describeEachRuntime('are counted', ({ path: node }) => {
      test.each([
        ['an ES module', 'cases.mjs', CASES, ['--import', REGISTER]],
        ['CommonJS', 'cases.cjs', commonjs(CASES), ['--import', REGISTER]],
        ['CommonJS that is started with -r', 'cases.cjs', commonjs(CASES), ['-r', fileURLToPath(REGISTER)]],
        ['a module that says nothing of itself', 'cases.js', commonjs(CASES), ['--import', REGISTER]],
      ])('place by place in %s', async (_title, file, code, args) => {
        const place = await freshPlace(database)
        const folder = project({ [file]: code })
        const { stdout, stderr, code: exit } = await run({ node, folder, args: [...args, file], place, env: IGNORE })
        expect({ stdout, exit }).toEqual({ stdout: 'done\n', exit: 0 })
        // Below 24, Node.js says there that -r of an ES module is an experiment.
        if (args[0] !== '-r') expect(stderr).toBe('only said through finally\npromise\n')
        expect(await countedAt(place.url, namesIn(file, code))).toEqual(EXPECTED)
      })
    })
  },
  { except: ['postgres', 'mysql'] },
)

function commonjs(code: string): string {
  return code
    .replace("import library from 'library'", "const library = require('library'); void (async () => {")
    .replace(/\nconsole\.log\('done'\)\n$/, "\nconsole.log('done')\n})()\n")
}

function swallowed(by: string, error_type = 'Error'): Counted {
  return { error_type, raised: 1, reported: 0, rescued: { [by]: 1 } }
}

function reported(error_type = 'Error'): Counted {
  return { error_type, raised: 1, reported: 1, rescued: {} }
}

function vanished(raised = 1): Counted {
  return { error_type: 'Error', raised, reported: 0, rescued: {} }
}
