import { expect, test } from 'vitest'
import { describeEachDatabase } from '../../support/databases.js'
import { describeEachRuntime } from '../../support/processes/runtimes.js'
import { freshStorage } from '../../support/tracker.js'
import { hostFile, project, REGISTER, readFileCounts, run } from './project.js'

const ENDS = hostFile('ends.mjs')
const ENDINGS = [
  ['ends.mjs', 'exit', 0],
  ['ends.cjs', 'exit', 0],
  ['ends.mjs', 'crash', 1],
  ['ends.cjs', 'crash', 1],
] as const

describeEachDatabase(
  'processes that end in their first tick',
  (database) => {
    describeEachRuntime('with unwritten counts', ({ path: node, name }) => {
      test('processes that exit or crash in their first tick leave unwritten counts to a later process', async () => {
        const storage = await freshStorage(database)
        const folder = project({ 'ends.mjs': ENDS, 'ends.cjs': ENDS, 'next.cjs': '' })
        // Node.js 22 and 24 load modules with the same hooks.
        const endings = name === 'Node.js 22' ? ENDINGS.slice(1, 3) : ENDINGS
        for (const [file, how, exit] of endings) {
          const { code } = await run({ node, folder, args: ['--import', REGISTER, file, how], storage })
          expect(code).toBe(exit)
        }
        await run({ node, folder, args: ['--import', REGISTER, 'next.cjs'], storage })
        for (const file of ['ends.mjs', 'ends.cjs']) {
          const ends = endings.filter(([ended]) => ended === file)
          const early = 3 * ends.length
          expect(await readFileCounts(storage.url, file, ENDS)).toEqual({
            early: { error_type: 'RangeError', raised: early, reported: 0, rescued: { 'early empty': early } },
            ...(ends.some(([, how]) => how === 'crash')
              ? { end: { error_type: 'Error', raised: 1, reported: 1, rescued: {} } }
              : {}),
          })
        }
      })
    })
  },
  { except: ['postgres', 'mysql'] },
)
