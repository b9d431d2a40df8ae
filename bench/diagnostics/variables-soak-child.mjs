// Throws many errors with local variables and logs some. Reports the growth of memory and open files.
import { readdirSync, readlinkSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { receiveTask, sendResult } from '../harness/child.mjs'
import { startTracker } from './variables-subjects.mjs'

const CHUNK = 500
const THROWS_PER_LOG = 100

/** Share of the run after which the process is warm: caches are full and files are open. */
const WARM_SHARE = 0.2

const { errors } = await receiveTask()
const { tracker, stop } = await startTracker({ enable_local_variables: true, local_variable_mode: 'always' })
let read = 0
const started = performance.now()
await throwMany(errors * WARM_SHARE)
const before = await measureSettled()
await throwMany(errors * (1 - WARM_SHARE))
const after = await measureSettled()
sendResult({
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
      if (i % THROWS_PER_LOG === 0) await log(error)
    }
    // Stays below the limit per second, so that every error has variables.
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

async function measureSettled() {
  await tracker.flush()
  await sleep(1000)
  for (let i = 0; i < 3; i++) globalThis.gc()
  return { heap: process.memoryUsage().heapUsed, files: openFiles() }
}

/** Excludes connections of the database, which can open a second one on demand. */
function openFiles() {
  return readdirSync('/proc/self/fd').filter((fd) => {
    try {
      return !readlinkSync(`/proc/self/fd/${fd}`).includes('.sqlite3')
    } catch {
      // The descriptor used to read the folder is closed by now.
      return false
    }
  }).length
}
