import { expect, test } from 'vitest'
import { describeEachDatabase } from '../../support/databases.js'
import { describeEachRuntime } from '../../support/processes/runtimes.js'
import { freshStorage } from '../../support/tracker.js'
import { project, REGISTER, readCounts, run } from './project.js'

const FILES = {
  'app.mjs': `import { Worker } from 'node:worker_threads'
new Worker(new URL('./thread.mjs', import.meta.url)).on('exit', (code) => console.log('thread', code))
`,
  'thread.mjs': `for (let i = 0; i < 5; i++) {
  try {
    throw new Error('in a thread')
  } catch {}
}
setTimeout(() => {}, 200)
`,
  'next.cjs': '',
}

describeEachDatabase(
  'swallowed exceptions of a worker thread',
  (database) => {
    describeEachRuntime('with one process', ({ path: node }) => {
      test('swallowed exceptions of a worker thread are counted without output, at the latest by the next process', async () => {
        const storage = await freshStorage(database)
        const folder = project(FILES)
        const first = await run({ node, folder, args: ['--import', REGISTER, 'app.mjs'], storage })
        expect(first).toEqual({ code: 0, stdout: 'thread 0\n', stderr: '' })
        await run({ node, folder, args: ['--import', REGISTER, 'next.cjs'], storage })
        expect(await readCounts(storage.url, (location) => location)).toEqual({
          'thread.mjs:3:5': { error_type: 'Error', raised: 5, reported: 0, rescued: { 'thread.mjs:4:5 empty': 5 } },
        })
      })
    })
  },
  { except: ['postgres', 'mysql'] },
)
