// Arguments: number of swallowed errors, number of reported errors, and how to end.
const [, , swallowed, reported, how] = process.argv
const { Tracker } = await import(process.env.FAULTBOARD_TEST_INDEX)

for (let i = 0; i < Number(swallowed); i++) {
  try {
    throw new RangeError(`storm ${i}`) // @raise storm
  } catch {} // @rescue storm
  if (i % 500 === 0) await new Promise((resume) => setImmediate(resume))
}
for (let i = 0; i < Number(reported); i++) {
  try {
    throw new TypeError('reported') // @raise reported
  } catch (error) {
    await Tracker.report(error)
  }
}
if (how === 'heap') {
  global.gc()
  console.log(process.memoryUsage().heapUsed)
}
if (how === 'exit') process.exit(4)
if (how === 'query') {
  await Tracker.flush()
  const { is_counting, watched_files, locations } = await Tracker.Queries.SwallowedExceptions.call()
  const [{ rescue_count, rescue_ratio }] = locations
  console.log(JSON.stringify({ is_counting, watched_files, rescue_count, rescue_ratio }))
}
if (how === 'shutdown') await Tracker.shutdown()
