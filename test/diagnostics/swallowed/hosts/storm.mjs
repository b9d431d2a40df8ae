// Arguments: number of swallowed errors, number of reported errors, how to end, and number of errors for a heap check.
const [, , swallowed, reported, how, added] = process.argv
const { Tracker } = await import(process.env.FAULTBOARD_TEST_INDEX)

async function swallow(count) {
  for (let i = 0; i < count; i++) {
    try {
      throw new RangeError(`storm ${i}`) // @raise storm
    } catch {} // @rescue storm
    if (i % 500 === 0) await new Promise((resume) => setImmediate(resume))
  }
}

await swallow(Number(swallowed))
for (let i = 0; i < Number(reported); i++) {
  try {
    throw new TypeError('reported') // @raise reported
  } catch (error) {
    await Tracker.report(error)
  }
}
if (how === 'exit') process.exit(4)
if (how === 'heap') {
  const before = heapUsed()
  await swallow(Number(added))
  const heap_growth = heapUsed() - before
  await Tracker.flush()
  const { is_counting, watched_files, locations } = await Tracker.Queries.SwallowedExceptions.call()
  const [{ rescue_count, rescue_ratio }] = locations
  console.log(JSON.stringify({ heap_growth, is_counting, watched_files, rescue_count, rescue_ratio }))
}
if (how === 'shutdown') await Tracker.shutdown()

function heapUsed() {
  global.gc()
  return process.memoryUsage().heapUsed
}
