/**
 * Aborts on SIGINT or SIGTERM, so that the process can shut down gracefully. A second signal ends the process immediately. Handling
 * signals is safe here because the CLI owns the process.
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
