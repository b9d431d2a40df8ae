import { expect, test } from 'vitest'
import { describeEachDatabase } from '../../support/databases.js'
import { describeEachRuntime } from '../../support/processes/runtimes.js'
import { freshStorage } from '../../support/tracker.js'
import { hostFile, namesIn, project, REGISTER, readCounts, run } from './project.js'

const ENDS = hostFile('ends.mjs')
const early = { error_type: 'RangeError', raised: 3, reported: 0, rescued: { 'early empty': 3 } }
const end = { error_type: 'Error', raised: 1, reported: 1, rescued: {} }

describeEachDatabase(
  'a process that ends in its first tick',
  (database) => {
    describeEachRuntime('with unwritten counts', ({ path: node }) => {
      test.each([
        ['an ES module that exits', 'ends.mjs', 'exit', 0, { early }],
        ['CommonJS that exits', 'ends.cjs', 'exit', 0, { early }],
        ['an ES module that crashes', 'ends.mjs', 'crash', 1, { early, end }],
        ['CommonJS that crashes', 'ends.cjs', 'crash', 1, { early, end }],
      ])('leaves unwritten counts to the next process: %s', async (_title, file, how, exit, counted) => {
        const storage = await freshStorage(database)
        const folder = project({ [file]: ENDS, 'next.cjs': '' })
        expect(await run({ node, folder, args: ['--import', REGISTER, file, how], storage })).toMatchObject({
          code: exit,
        })
        await run({ node, folder, args: ['--import', REGISTER, 'next.cjs'], storage })
        expect(await readCounts(storage.url, namesIn(file, ENDS))).toEqual(counted)
      })
    })
  },
  { except: ['postgres', 'mysql'] },
)
