/**
 * Aborts when the process is asked to stop, so that it can end in good order; asked a second time, it ends at once.
 * The signals are ours to handle because the process is.
 */
export function stopSignal(): AbortSignal {
  const controller = new AbortController()
  const stop = () => {
    if (controller.signal.aborted) process.exit(130)
    controller.abort()
  }
  process.on('SIGINT', stop)
  process.on('SIGTERM', stop)
  return controller.signal
}

export async function aborted(signal: AbortSignal): Promise<void> {
  if (signal.aborted) return
  await new Promise<void>((resume) => signal.addEventListener('abort', () => resume(), { once: true }))
}
