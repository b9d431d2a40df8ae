import type { Step } from '../draft.js'

/** Keeps the configured share of errors, and all critical errors. */
export const sample: Step = (draft, { config, random }) => {
  if (config.sampling_rate >= 1 || draft.severity === 'critical') return
  return random() < config.sampling_rate ? undefined : 'sampled_out'
}
