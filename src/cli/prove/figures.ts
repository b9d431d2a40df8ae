import type { Resources } from './host.js'

export const PHASES = ['before', 'during', 'after'] as const

/** Latency of a route that does not fail, and the longest stall of its event loop, in milliseconds. */
export interface Phase {
  p50: number
  p99: number
  stall: number
  requests: number
  /** Requests without a response, or with an unexpected status. */
  failures: number
}

/** Figures of one host in one scenario. */
export interface Figures extends Record<(typeof PHASES)[number], Phase> {
  resources: { before: Resources; after: Resources }
}

/** Errors that the host threw, by their outcome. */
export interface Counts {
  thrown: number
  recorded: number
  /** Errors that were not recorded, by reason. */
  dropped: Record<string, number>
}
