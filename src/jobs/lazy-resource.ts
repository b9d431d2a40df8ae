export interface LazyResource<T> {
  /** The open resource, or the pending one shared by all callers. */
  open(): Promise<T>
  close(): Promise<void>
}

/** Opens a resource on first use, and again after it broke or failed to open. */
export function openLazily<T extends { close(): Promise<void> }>(
  connect: (onBroken: () => void) => Promise<T>,
): LazyResource<T> {
  let current: Promise<T> | null = null
  const open = () => {
    if (current) return current
    const forget = () => {
      if (current === opening) current = null
    }
    const opening = connect(forget)
    current = opening
    opening.catch(forget)
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
