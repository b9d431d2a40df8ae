import type { Severity } from '../model/severity/severity.js'
import type { SeverityCounts } from './releases/releases.js'
import { share } from './statistics.js'

/** Weight of an occurrence, from 0 to 1. */
const SEVERITY_WEIGHTS: Record<Severity, number> = { critical: 1, high: 0.6, medium: 0.3, low: 0.1 }

/** Explanation of the score. */
export const STABILITY_SCALE = 'Stability is from 0 to 100: 70 and above is stable, below 40 unstable.'

/** Formula of the score for the help text. */
export function stabilityFormula({ open, growth }: { open: string; growth: string }): string {
  return `100 − 40 × mean weight of the occurrences (critical 1, high 0.6, medium 0.3, low 0.1) − 30 × share of ${open} still open − 30 × growth over ${growth} (doubling or more counts as 1).`
}

export const STABILITY_STATUSES = ['stable', 'at_risk', 'unstable'] as const
export type StabilityStatus = (typeof STABILITY_STATUSES)[number]

export function stabilityStatus(score: number): StabilityStatus {
  return score >= 70 ? 'stable' : score >= 40 ? 'at_risk' : 'unstable'
}

/** Score in words, such as `Stability 44 of 100, at risk`. */
export function stabilityText(score: number, status: StabilityStatus): string {
  return `Stability ${score} of 100, ${status.replace('_', ' ')}`
}

export interface StabilityParts {
  severities: SeverityCounts
  /** Share of unresolved errors. */
  open_share: number
  /** Null, and ignored, if there is no earlier data. */
  growth: number | null
}

/** Computes the stability score, from 0 (everything critical, open and growing) to 100. */
export function stabilityScore({ severities, open_share, growth }: StabilityParts): number {
  const entries = Object.entries(severities) as [Severity, number][]
  const weightedSum = entries.reduce((sum, [severity, count]) => sum + SEVERITY_WEIGHTS[severity] * count, 0)
  const weight = share(
    weightedSum,
    entries.reduce((sum, [, count]) => sum + count, 0),
  )
  const cappedGrowth = Math.max(0, Math.min(1, growth ?? 0))
  return Math.round(100 - 40 * weight - 30 * open_share - 30 * cappedGrowth)
}
