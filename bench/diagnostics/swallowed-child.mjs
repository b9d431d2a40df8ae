import { receiveTask, sendResult } from '../harness/child.mjs'

const { subject, large, times, swallowed } = await receiveTask()
const loading = performance.now()
if (large) await import(large)
const load_ms = performance.now() - loading
const code = await import(subject)
const figures = { load_ms }
for (const name of ['guarded', 'promised', 'named', 'thrown', 'parsed']) figures[name] = await code[name](times)
if (swallowed) {
  global.gc()
  const before = process.memoryUsage().heapUsed
  code.thrown(Math.ceil(swallowed / 7))
  global.gc()
  figures.growth = process.memoryUsage().heapUsed - before
}
sendResult(figures)
