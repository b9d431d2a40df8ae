export interface TimeoutOptions {
  /** Message of the rejection. */
  message?: string
  /** True if the process stays alive until the promise settles or times out. A shutdown that awaits it needs this. */
  keepAlive?: boolean
}

/** Rejects if the promise takes longer than `ms`. A result or rejection that arrives later is ignored. */
export async function withTimeout<T>(
  promise: Promise<T>,
  ms: number,
  { message = `no response within ${ms / 1000} seconds`, keepAlive = false }: TimeoutOptions = {},
): Promise<T> {
  let timer: NodeJS.Timeout | undefined
  const timeout = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(message)), ms)
    if (!keepAlive) timer.unref()
  })
  try {
    return await Promise.race([promise, timeout])
  } finally {
    clearTimeout(timer)
  }
}
