/**
 * Suites in the order of a full run. A suite yields tables as `{ title, measure }`, or as `{ title, skipped }` with the
 * reason. `quickMinutes` is the duration with --quick on two cores, and `minutes` the duration of a full run, which is
 * extrapolated from it. A suite that is `onDemand` runs only if it is named, to keep the run of all suites short.
 */
export const SUITES = {
  capture: { minutes: 3.5, quickMinutes: 1.3, load: async () => (await import('./capture.mjs')).capture },
  requests: { minutes: 3.2, quickMinutes: 3.2, load: async () => (await import('./requests.mjs')).requests },
  write: { minutes: 5.5, quickMinutes: 3, load: async () => (await import('./write.mjs')).write },
  pages: { minutes: 9.7, quickMinutes: 3, load: async () => (await import('./pages.mjs')).pages },
  search: { minutes: 2, quickMinutes: 0.2, load: async () => (await import('./search.mjs')).search },
  jobs: { minutes: 1, quickMinutes: 0.2, load: async () => (await import('./jobs.mjs')).jobs },
  diagnostics: { minutes: 6, quickMinutes: 3, load: async () => (await import('./diagnostics.mjs')).diagnostics },
  flood: { minutes: 1.3, quickMinutes: 0.5, load: async () => (await import('./flood.mjs')).flood },
  comparison: { minutes: 3.5, quickMinutes: 3.5, load: async () => (await import('./comparison.mjs')).comparison },
  recovery: { minutes: 3.5, quickMinutes: 2.8, load: async () => (await import('./recovery.mjs')).recovery },
  harm: { minutes: 12, quickMinutes: 7, onDemand: true, load: async () => (await import('./harm.mjs')).harm },
}

/** Minutes that --large adds to the suite `pages`, mostly to build its data sets. Extrapolated from 1M occurrences. */
const LARGE_MINUTES = 40

export function estimateMinutes(suite, { quick, large }) {
  const { minutes, quickMinutes } = SUITES[suite]
  return (quick ? quickMinutes : minutes) + (large && suite === 'pages' ? LARGE_MINUTES : 0)
}
