import { expect, test } from 'vitest'
import { describeEachRuntime } from '../../support/processes/runtimes.js'
import { temporaryFolder } from '../../support/tracker.js'
import { project, REGISTER, run } from './project.js'

/** The handler uses no stack, so the innermost level that catches ends the overflow. */
const HOST = `
let rescued = 0
let escaped = 0
function descend() {
  try {
    return descend() + 1
  } catch {
    rescued++
    return 0
  }
}
try { descend() } catch { escaped++ }
console.log(JSON.stringify({ rescued, escaped }))
`

describeEachRuntime('a handler near the stack limit', ({ path: node }) => {
  test('a handler near the stack limit continues without counting the caught error', async () => {
    const folder = project({ 'app.mjs': HOST })
    const spool_path = temporaryFolder()
    const storage = { url: `sqlite:${spool_path}/errors.sqlite3`, spool_path }
    const { stdout, code } = await run({ node, folder, args: ['--import', REGISTER, 'app.mjs'], storage })
    expect(code).toBe(0)
    expect(JSON.parse(stdout)).toEqual({ rescued: 1, escaped: 0 })
  })
})
