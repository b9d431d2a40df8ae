import { type Counts, type Figures, PHASES } from './figures.js'

/** One figure of the host with Faultboard and its limit, which depends on the host without it. */
export interface Check {
  name: string
  value: number
  limit: number
  passed: boolean
}

/** Users notice only a multiple of the response time, or a visible delay. */
const MAX_RATIO = 3
const MAX_ADDED_P50_MS = 2
const MAX_ADDED_P99_MS = 10
/** About one frame of an animation: shorter pauses are usual for garbage collection. */
const MAX_ADDED_STALL_MS = 20
const MAX_ADDED_MEMORY_MB = 20

export const LIMITS_TEXT = [
  `p50 ≤ ${MAX_RATIO} × the host without Faultboard or + ${MAX_ADDED_P50_MS} ms`,
  `p99 ≤ ${MAX_RATIO} × or + ${MAX_ADDED_P99_MS} ms`,
  `longest event-loop stall ≤ + ${MAX_ADDED_STALL_MS} ms`,
  'no additional failed requests',
  `memory growth ≤ + ${MAX_ADDED_MEMORY_MB} MB`,
  'no additional descriptors',
  'every error recorded or counted as dropped',
].join('; ')

const withinRatio = (usual: number, addedMs: number) => Math.max(MAX_RATIO * usual, usual + addedMs)
const LIMITS = {
  p50: (usual: number) => withinRatio(usual, MAX_ADDED_P50_MS),
  p99: (usual: number) => withinRatio(usual, MAX_ADDED_P99_MS),
  stall: (usual: number) => usual + MAX_ADDED_STALL_MS,
  failures: (usual: number) => usual,
}
const METRICS = ['p50', 'p99', 'stall', 'failures'] as const

/** Compares with the slower of the runs without Faultboard, because their difference is noise. */
export function checkFigures(bare: readonly Figures[], faultboard: Figures, counts: Counts): Check[] {
  const highest = (read: (figures: Figures) => number) => Math.max(...bare.map(read))
  const checks = PHASES.flatMap((phase) =>
    METRICS.map((metric) => {
      const limit = LIMITS[metric](highest((run) => run[phase][metric]))
      return check(`${metric} ${phase}`, faultboard[phase][metric], limit)
    }),
  )
  const { before, after } = faultboard.resources
  checks.push(
    check('memory growth', memoryGrowth(faultboard), Math.max(0, highest(memoryGrowth)) + MAX_ADDED_MEMORY_MB),
  )
  if (before.descriptors !== null && after.descriptors !== null) {
    checks.push(check('descriptors', after.descriptors, before.descriptors))
  }
  return [...checks, check('errors not accounted for', Math.abs(unaccounted(counts)), 0)]
}

export function unaccounted({ thrown, recorded, dropped }: Counts): number {
  return thrown - recorded - Object.values(dropped).reduce((sum, count) => sum + count, 0)
}

function memoryGrowth({ resources: { before, after } }: Figures): number {
  return after.memory_mb - before.memory_mb
}

function check(name: string, value: number, limit: number): Check {
  return { name, value, limit, passed: value <= limit }
}
