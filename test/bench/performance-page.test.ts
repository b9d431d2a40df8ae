import { describe, expect, test } from 'vitest'
// @ts-expect-error The scripts have no types.
import { acceptRun } from '../../bench/check/accepted.mjs'
// @ts-expect-error The scripts have no types.
import { mergePasses } from '../../bench/check/merge-passes.mjs'
// @ts-expect-error The scripts have no types.
import { row } from '../../bench/harness/report.mjs'
// @ts-expect-error The scripts have no types.
import { performance } from '../../scripts/docs/performance.mjs'

const rows = [
  row({ name: 'a|b', figure: 12.34, unit: 'µs', ratio: 1.5, against: 'bare', limit: { max: 1.4 }, note: 'CPU time.' }),
  row({ name: 'share', figure: 5000, unit: 'errors/s', ratio: 0.75, against: 'bare driver', limit: { min: 0.7 } }),
  row({ name: 'scope', figure: 3, unit: 'µs added', ratio: 1.2, against: 'bare', limit: { max: 1.04 }, bound: 1.1 }),
  // A lower bound that is stricter than the target is not shown.
  row({ name: 'writes', figure: 9, unit: 'errors/s', ratio: 0.8, against: 'bare', limit: { min: 0.7 }, bound: 0.9 }),
  row({ name: 'peer', figure: 100, unit: 'µs', ratio: 10, against: 'bare', note: 'CPU time.' }),
]
const accepted = acceptRun(null, {
  started_at: '2026-11-20T10:00:00.000Z',
  modes: { capture: { quick: true, large: false } },
  ...{ repeat: 3, all_databases: true },
  machine: { node: 'v20.19.0', cores: 2, cpu: 'Some CPU', load: [0.5, 1, 1] },
  tables: mergePasses([[{ suite: 'capture', title: 'Cost', seconds: 1, rows, skipped: null }]]),
})

describe('docs/performance.md', () => {
  test('shows the accepted tables with their conditions, targets and notes', () => {
    expect(performance(accepted, '# Speed\n\n{{capture}}\n')).toBe(`# Speed

Measured on 2026-11-20 with \`npm run bench -- capture --quick --accept\`: median of 3, Node.js 20.19.0, 2 cores (Some CPU), load 0.5 at the start.

### Cost

|  | figure | ratio | noise | target | target met |
|---|---|---|---|---|---|
| a\\|b | 12.3 µs | 1.50 x bare | 0% | ≤ 1.4 | **no** |
| share | 5,000 errors/s | 0.75 x bare driver | 0% | ≥ 0.7 | yes |
| scope | 3.00 µs added | 1.20 x bare | 0% | ≤ 1.04, or 1.21 (lower bound 1.1) | yes |
| writes | 9.00 errors/s | 0.80 x bare | 0% | ≥ 0.7 | yes |
| peer | 100 µs | 10.00 x bare | 0% |  |  |

CPU time.
`)
  })

  test('names the command for a suite without accepted results', () => {
    expect(performance({ suites: {} }, '{{pages}}')).toBe(
      'No results accepted yet. Measure with `npm run bench -- pages`.',
    )
  })

  test('requires a placeholder in the template for every accepted suite', () => {
    expect(() => performance(accepted, '{{write}}')).toThrow('has no placeholder for capture')
  })
})
