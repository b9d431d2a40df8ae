const MOST_MS = 6

/**
 * Long work in the host's thread calls this often: it gives the host its turn whenever a few milliseconds have passed.
 *
 * @example
 * const turn = turns()
 * for (const kind of kinds) {
 *   await turn()
 *   compute(kind)
 * }
 */
export function turns(): () => Promise<void> {
  let since = performance.now()
  return async () => {
    if (performance.now() - since < MOST_MS) return
    await giveTurn()
    since = performance.now()
  }
}

/** Lets the host do what waits. Answers of an embedded database come at once, and waiting for them gives no turn. */
export function giveTurn(): Promise<void> {
  return new Promise((resume) => setImmediate(resume))
}
