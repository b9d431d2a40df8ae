// One of several processes that write to one database concurrently.
import { once } from 'node:events'
import { task } from '../harness/child.mjs'
import { makeEvents } from './events.mjs'
import { drained, logAll, startTracker } from './ours.mjs'

const { url, warmup, count, groups, seed, callers } = await task()
const events = makeEvents({ count, groups, seed })
const tracker = await startTracker(url)
await logAll(tracker, makeEvents({ count: warmup, groups, seed }), callers)
await drained(tracker)
process.send('ready')
await once(process, 'message')
await logAll(tracker, events, callers)
await drained(tracker)
process.send('done')
await once(process, 'message')
await tracker.shutdown()
process.disconnect()
