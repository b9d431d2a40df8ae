export interface RepeatedStep {
  message: string
  count: number
  duration_ms: number
}

interface Step {
  category: string
  message: string
  duration_ms?: number | undefined
}

/** The statements that stand in a trail so often that they look like a loop over rows, the most frequent first. */
export function repeatedStatements(steps: readonly Step[], threshold: number): RepeatedStep[] {
  const counts = new Map<string, RepeatedStep>()
  for (const { category, message, duration_ms = 0 } of steps) {
    if (category !== 'sql') continue
    const known = counts.get(message) ?? { message, count: 0, duration_ms: 0 }
    known.count++
    known.duration_ms += duration_ms
    counts.set(message, known)
  }
  return [...counts.values()].filter(({ count }) => count >= threshold).sort((a, b) => b.count - a.count)
}
