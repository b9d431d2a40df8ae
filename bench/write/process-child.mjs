// One of several processes that write to one database concurrently.
import { once } from 'node:events'
import { receiveTask } from '../harness/child.mjs'
import { makeEvents } from './events.mjs'
import { startMinimalTracker } from './minimal-tracker.mjs'
import { drained, logAll, startTracker } from './ours.mjs'

const { subject, dialect, url, warmup, count, groups, seed, callers } = await receiveTask()
const events = makeEvents({ count, groups, seed })
const { log, close } = await (subject === 'ours' ? startOurs() : startMinimalTracker(dialect, url))
await log(makeEvents({ count: warmup, groups, seed }), callers)
process.send('ready')
await once(process, 'message')
await log(events, callers)
process.send('done')
await once(process, 'message')
await close()
process.disconnect()

async function startOurs() {
  const tracker = await startTracker(url)
  return {
    async log(input) {
      await logAll(tracker, input, callers)
      await drained(tracker)
    },
    close: () => tracker.shutdown(),
  }
}
