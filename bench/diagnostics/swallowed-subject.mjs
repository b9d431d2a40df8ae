// Host code that is instrumented when it is loaded. Each function returns nanoseconds per round.
const ROUNDS = 7

export function thrown(times) {
  return fastest(times, () => {
    try {
      throw new Error('x')
    } catch {
      return null
    }
  })
}

export function parsed(times) {
  return fastest(times, () => {
    try {
      return JSON.parse('{')
    } catch {
      return null
    }
  })
}

export function guarded(times) {
  let sum = 0
  return fastest(times, (i) => {
    try {
      sum += i % 7
      if (sum < 0) throw new Error('never')
    } catch {
      sum = 0
    }
  })
}

export async function promised(times) {
  const settled = Promise.resolve(1)
  return fastest(times, () => settled.catch(() => null))
}

export async function named(times) {
  const settled = Promise.resolve(1)
  const handler = () => null
  return fastest(times, () => settled.catch(handler))
}

function fastest(times, work) {
  let best = Number.POSITIVE_INFINITY
  for (let round = 0; round < ROUNDS; round++) {
    const startedAt = performance.now()
    for (let i = 0; i < times; i++) work(i)
    best = Math.min(best, ((performance.now() - startedAt) * 1e6) / times)
  }
  return best
}
