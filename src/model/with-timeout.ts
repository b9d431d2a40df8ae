export interface TimeoutOptions {
  /** Message of the rejection. */
  message?: string
  /** True if the process stays alive until the promise settles or times out. A shutdown that awaits it needs this. */
  keepAlive?: boolean
  /** Rejects as soon as the signal aborts. */
  signal?: AbortSignal
}

/** Message of a rejection by the signal. */
export const STOPPED_MESSAGE = 'Stopped before a response arrived.'

/** Rejects if the promise takes longer than `ms`. A result or rejection that arrives later is ignored. */
export async function withTimeout<T>(
  promise: Promise<T>,
  ms: number,
  { message = `no response within ${ms / 1000} seconds`, keepAlive = false, signal }: TimeoutOptions = {},
): Promise<T> {
  let timer: NodeJS.Timeout | undefined
  let stop = () => {}
  const timeout = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(message)), ms)
    if (!keepAlive) timer.unref()
    stop = () => reject(new Error(STOPPED_MESSAGE))
    if (signal?.aborted) stop()
    else signal?.addEventListener('abort', stop)
  })
  try {
    return await Promise.race([promise, timeout])
  } finally {
    clearTimeout(timer)
    signal?.removeEventListener('abort', stop)
  }
}
