import { execFile } from 'node:child_process'
import { join, resolve } from 'node:path'
import { promisify } from 'node:util'
import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js'
import { expect, test } from 'vitest'
import { describeEachRuntime } from '../support/processes/runtimes.js'
import { recordErrors, workingDirectory } from './faultboard.js'

const MAIN = resolve('dist/cli/main.js')
const run = promisify(execFile)

describeEachRuntime('CLI', ({ path }) => {
  test('migrates, exports, imports, moves and serves MCP', async () => {
    const cwd = await workingDirectory()
    const faultboard = async (...args: string[]) => (await run(path, [MAIN, ...args], { cwd })).stdout
    await faultboard('migrate')
    await recordErrors(`sqlite:${join(cwd, 'faultboard.sqlite3')}`, {
      error_type: 'TypeError',
      message: 'x is undefined',
    })
    await faultboard('export', 'errors.ndjson')
    expect(await faultboard('import', 'errors.ndjson', '--database', 'sqlite:copy.sqlite3')).toContain('1 new')
    const moveResult = await faultboard(
      'move',
      '--from',
      'sqlite:copy.sqlite3',
      '--to',
      'sqlite:moved.sqlite3',
      '--json',
    )
    expect(JSON.parse(moveResult)).toMatchObject({ verified: true })

    const client = new Client({ name: 'a test', version: '1' })
    const args = [MAIN, 'mcp', '--database', 'sqlite:moved.sqlite3']
    await client.connect(new StdioClientTransport({ command: path, args, cwd, stderr: 'ignore' }))
    const result = JSON.stringify(await client.callTool({ name: 'list_errors', arguments: {} }))
    await client.close()
    expect(result).toContain('x is undefined')
  }, 60_000)
})
