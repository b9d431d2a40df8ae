/** Rejects when a promise takes longer than this. The timer does not keep the process alive. */
export async function inTime<T>(answer: Promise<T>, patience_ms: number): Promise<T> {
  let timer: NodeJS.Timeout | undefined
  const silence = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`no answer within ${patience_ms / 1000} seconds`)), patience_ms)
    timer.unref()
  })
  try {
    return await Promise.race([answer, silence])
  } finally {
    clearTimeout(timer)
  }
}
