export interface KeptOpen<T> {
  /** The open resource, or the pending one shared by all callers. */
  open(): Promise<T>
  close(): Promise<void>
}

/** Opens a resource on first use, and again after it broke or failed to open. */
export function keptOpen<T extends { close(): Promise<void> }>(
  make: (onBroken: () => void) => Promise<T>,
): KeptOpen<T> {
  let opened: Promise<T> | null = null
  const open = () => {
    if (opened) return opened
    const forget = () => {
      if (opened === making) opened = null
    }
    const making = make(forget)
    opened = making
    making.catch(forget)
    return making
  }
  return {
    open,
    async close() {
      const one = opened
      opened = null
      await (await one)?.close()
    },
  }
}
