import { spawnSync } from 'node:child_process'
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, expect, test } from 'vitest'
import { atExit } from '../../../src/store/spool/at-exit.js'
import { CREDENTIALS, temporaryFolder } from '../../support/tracker.js'

const ends: (() => void)[] = []
afterEach(() => {
  for (const end of ends.splice(0)) end()
})

test('uses two process listeners for all exit listeners and removes both with the last exit listener', () => {
  const before = process.listeners('exit')
  const called: string[] = []
  const recordCall = (group: Parameters<typeof atExit>[0]) =>
    atExit(group, (code) => void called.push(`${group} ${code}`))
  ends.push(recordCall('marker'), recordCall('spool'), recordCall('spool'))
  ends.push(
    atExit('failed_exit', () => {
      called.push('failed_exit')
      throw new Error('of no concern to the host')
    }),
  )
  ends.push(recordCall('late_reports'))
  const now = process.listeners('exit') as ((code: number) => void)[]
  expect(now.slice(1, -1)).toEqual(before)
  for (const trackerListener of [now[0], now.at(-1)]) trackerListener?.(3)
  expect(called).toEqual(['late_reports 3', 'spool 3', 'spool 3', 'failed_exit', 'marker 3'])
  for (const end of ends.splice(0)) end()
  expect(process.listeners('exit')).toEqual(before)
})

/** Runs a host with crash capture. `work` may use `start()`, `listen(count)` and `report(facts)`. */
function host(work: string) {
  const folder = temporaryFolder()
  const crash_capture_path = join(folder, 'crashes')
  const settings = {
    ...CREDENTIALS,
    database: 'sqlite::memory:',
    spool_path: join(folder, 'spool'),
    crash_capture_path,
  }
  const dist = new URL('../../../dist/index.js', import.meta.url).href
  const facts = join(folder, 'facts.json')
  const program = join(folder, 'host.mjs')
  writeFileSync(
    program,
    `import { EventEmitter } from 'node:events'
import { writeFileSync } from 'node:fs'
import { createTracker } from ${JSON.stringify(dist)}
// Node.js adds a listener while the main module awaits.
const listen = (count) => { while (process.listenerCount('exit') < count) process.on('exit', () => {}) }
const start = () => createTracker(${JSON.stringify(settings)}).start()
const report = (facts) => writeFileSync(${JSON.stringify(facts)}, JSON.stringify(facts))
${work}
`,
  )
  const { stderr, status } = spawnSync(process.execPath, [program], { encoding: 'utf8' })
  return { stderr, status, facts, crash_capture_path }
}

test.each([9, 10])('does not cause a leak warning in a host with %i exit listeners', (count) => {
  const first = host(`listen(${count})
const hooks = process.listenerCount('newListener')
const tracker = start()
const added = process.listenerCount('exit') - ${count}
const limit = process.getMaxListeners()
EventEmitter.defaultMaxListeners = 50
const later_limit = process.getMaxListeners()
await tracker.shutdown()
const left = process.listenerCount('exit') - ${count}
report({ added, left, limit, later_limit, hooks: process.listenerCount('newListener') - hooks })`)
  expect(first).toMatchObject({ stderr: '', status: 0 })
  const facts = { added: 2, left: 0, limit: 10, later_limit: 50, hooks: 0 }
  expect(JSON.parse(readFileSync(first.facts, 'utf8'))).toEqual(facts)

  const later = host(`const tracker = start()
listen(${count} + 2)
await null
report({ limit: process.getMaxListeners() })
await tracker.shutdown()`)
  expect(later).toMatchObject({ stderr: '', status: 0 })
  expect(JSON.parse(readFileSync(later.facts, 'utf8'))).toEqual({ limit: 10 })
})

test('keeps the leak warning of a host with too many listeners', () => {
  const { stderr } = host(`const tracker = start()
listen(13)
await tracker.shutdown()`)
  expect(stderr).toContain('MaxListenersExceededWarning')
})

test('receives the exit code that an earlier listener has set, such as for an unsettled await', () => {
  const { status, crash_capture_path } = host(`start()
await new Promise(() => {})`)
  expect(status).toBe(13)
  const crashes = readdirSync(crash_capture_path).map((name) => readFileSync(join(crash_capture_path, name), 'utf8'))
  expect(crashes.join('')).toContain('The process exited with code 13')
})
