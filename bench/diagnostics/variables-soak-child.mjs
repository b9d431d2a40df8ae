// Throws so many errors, has the variables of all of them read, logs some: what is left of it in memory and open files.
import { readdirSync, readlinkSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { answer, task } from '../harness/child.mjs'
import { startTracker } from './variables-subjects.mjs'

const CHUNK = 500
const LOGGED = 100

/** The share by which the process is warm: caches are full, and what is opened once is open. */
const WARM = 0.2

const { errors } = await task()
const { tracker, stop } = await startTracker({ enable_local_variables: true, local_variable_mode: 'always' })
let read = 0
const started = performance.now()
await throwMany(errors * WARM)
const before = await settled()
await throwMany(errors * (1 - WARM))
const after = await settled()
answer({
  before: before.heap,
  after: after.heap,
  files_before: before.files,
  files_after: after.files,
  read,
  seconds: (performance.now() - started) / 1000,
})
await stop()

async function throwMany(count) {
  for (let done = 0; done < count; done += CHUNK) {
    for (let i = 0; i < CHUNK; i++) {
      const error = thrown(i)
      if (i % LOGGED === 0) await log(error)
    }
    // No more than the limit a second, so that none is left out.
    await sleep(1010 * (CHUNK / 1000))
  }
}

async function log(error) {
  const { id } = await tracker.Commands.LogError.call({ exception: error })
  const { details } = await tracker.Queries.FindError.call({ error_id: id })
  if (details.local_variables) read++
}

function thrown(number) {
  try {
    const order = { number, lines: [1, 2, 3] }
    if (order) throw new Error('The order could not be charged')
  } catch (error) {
    return error
  }
}

async function settled() {
  await tracker.flush()
  await sleep(1000)
  for (let i = 0; i < 3; i++) globalThis.gc()
  return { heap: process.memoryUsage().heapUsed, files: openFiles() }
}

/** The database opens a second connection when it needs one; those are not counted. */
function openFiles() {
  return readdirSync('/proc/self/fd').filter((fd) => {
    try {
      return !readlinkSync(`/proc/self/fd/${fd}`).includes('.sqlite3')
    } catch {
      // The one by which the folder was read is closed again.
      return false
    }
  }).length
}
