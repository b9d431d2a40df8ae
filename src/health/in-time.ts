/** A server that accepts connections and says nothing must not keep a page waiting. */
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
