/** Counts the event loop iterations until the work ends. */
export async function countIterations(work: () => Promise<unknown>): Promise<number> {
  let iterations = 0
  let isOver = false
  const count = () => {
    iterations++
    if (!isOver) setImmediate(count)
  }
  setImmediate(count)
  await work()
  isOver = true
  return iterations
}
