export interface LazyResource<T> {
  /** Returns the open resource. Concurrent callers share one attempt to open it. */
  open(): Promise<T>
  close(): Promise<void>
}

/** Opens a resource on first use, and again after it breaks or fails to open. */
export function openLazily<T extends { close(): Promise<void> }>(
  connect: (onBroken: () => void) => Promise<T>,
): LazyResource<T> {
  let current: Promise<T> | null = null
  const open = () => {
    if (current) return current
    const clearCurrent = () => {
      if (current === opening) current = null
    }
    const opening = connect(clearCurrent)
    current = opening
    opening.catch(clearCurrent)
    return opening
  }
  return {
    open,
    async close() {
      const resource = current
      current = null
      await (await resource)?.close()
    },
  }
}
