export interface KeptOpen<T> {
  /** What is open, or is being opened for everybody who asks. */
  open(): Promise<T>
  close(): Promise<void>
}

/** Opens something with its first use, and anew with the first use after it broke or could not be opened. */
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
