/** Waits for all of it, but no longer than this; gives whether all was done. Nothing of it makes this reject. */
export async function settledInTime(work: readonly Promise<unknown>[], limit_ms: number): Promise<boolean> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<false>((resolve) => {
    timer = setTimeout(resolve, limit_ms, false)
    timer.unref()
  })
  const done = Promise.allSettled(work).then(() => true as const)
  const in_time = await Promise.race([done, late])
  clearTimeout(timer)
  return in_time
}
