/**
 * What is asked of a server, or a rejection when it says nothing for too long. Until then the process lives on, also where
 * the connection does not hold it: a shutdown that waits for the answer would end in the middle.
 */
export async function within<T>(patience_ms: number, who: string, answer: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined
  const silence = new Promise<never>((_, reject) => {
    timer = setTimeout(
      () => reject(new Error(`${who} has not answered for ${patience_ms / 1000} seconds`)),
      patience_ms,
    )
  })
  try {
    return await Promise.race([answer, silence])
  } finally {
    clearTimeout(timer)
  }
}
