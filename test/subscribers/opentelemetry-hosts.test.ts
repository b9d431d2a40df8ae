import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, onTestFinished, test } from 'vitest'
import { describeEachRuntime } from '../support/processes/runtimes.js'
import { CREDENTIALS, eventually, temporaryFolder, trackerAt } from '../support/tracker.js'

const PROGRAM = fileURLToPath(new URL('./hosts/traced-host.mjs', import.meta.url))

describeEachRuntime('a traced host', ({ path }) => {
  test('records each error once, even if the process ends right after it', async () => {
    const folder = temporaryFolder()
    const storage = { url: `sqlite:${join(folder, 'errors.sqlite3')}`, spool_path: join(folder, 'spool') }
    const settings = { ...CREDENTIALS, database: storage.url, spool_path: storage.spool_path, application_name: 'shop' }
    writeFileSync(join(folder, 'settings.json'), JSON.stringify(settings))
    const child = spawn(path, [PROGRAM, join(folder, 'settings.json')], { stdio: ['ignore', 'pipe', 'pipe'] })
    onTestFinished(() => void child.kill('SIGKILL'))
    let output = ''
    child.stdout.on('data', (bytes) => {
      output += bytes
    })
    child.stderr.on('data', (bytes) => {
      output += bytes
    })
    expect([await once(child, 'close'), output]).toEqual([[0, null], ''])

    const { tracker, clock } = trackerAt(storage)
    clock.now = null
    // Spooled errors of the ended process are imported at the next start.
    await eventually(async () => (await tracker.Queries.ErrorsList.call()).length === 2, 'both are imported')
    const errors = await tracker.Queries.ErrorsList.call()
    expect(
      errors.map(({ error_type, message, occurrence_count }) => [error_type, message, occurrence_count]).sort(),
    ).toEqual([
      ['RangeError', 'on the span and reported', 1],
      ['TypeError', 'only on the span', 1],
    ])
    for (const { id } of errors) {
      const { details } = await tracker.Queries.FindError.call({ error_id: id })
      expect(details.trace_id).toMatch(/^[0-9a-f]{32}$/)
    }
  })
})
