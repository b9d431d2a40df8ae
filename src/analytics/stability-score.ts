import type { Severity } from '../model/severity.js'
import type { SeverityCounts } from './releases/releases.js'
import { share } from './statistics.js'

/** How much an occurrence weighs, from 0 to 1. */
const WEIGHTS: Record<Severity, number> = { critical: 1, high: 0.6, medium: 0.3, low: 0.1 }

/** How a score is read. */
export const STABILITY_SCALE = 'Stability from 0 to 100: 70 and above is stable, below 40 unstable.'

/** The formula in one line, for a page. */
export function stabilityFormula({ open, growth }: { open: string; growth: string }): string {
  return `100 − 40 × mean weight of its occurrences (critical 1, high 0.6, medium 0.3, low 0.1) − 30 × part of ${open} still open − 30 × growth against ${growth} (twice as many or more counts as 1).`
}

export type StabilityStatus = 'stable' | 'shaky' | 'unstable'

export function stabilityStatus(score: number): StabilityStatus {
  return score >= 70 ? 'stable' : score >= 40 ? 'shaky' : 'unstable'
}

export interface StabilityParts {
  severities: SeverityCounts
  /** Part of its errors that are not resolved. */
  open_share: number
  /** Null where there was nothing before: then it does not count. */
  growth: number | null
}

/** From 0 (everything critical, open and growing) to 100. */
export function stabilityScore({ severities, open_share, growth }: StabilityParts): number {
  const entries = Object.entries(severities) as [Severity, number][]
  const weighed = entries.reduce((sum, [severity, count]) => sum + WEIGHTS[severity] * count, 0)
  const weight = share(
    weighed,
    entries.reduce((sum, [, count]) => sum + count, 0),
  )
  const grown = Math.max(0, Math.min(1, growth ?? 0))
  return Math.round(100 - 40 * weight - 30 * open_share - 30 * grown)
}
