import { fileURLToPath } from 'node:url'
import { runChild } from '../harness/child.mjs'
import { interleaved, median } from '../harness/measure.mjs'
import { row } from '../harness/report.mjs'

const file = (name) => fileURLToPath(new URL(name, import.meta.url))

const FRAMES = [4, 21]
const SUBJECTS = ['bare', 'ours, off', 'ours, adaptive', 'ours, always', '@sentry/node']
const MAX_RATIO_WHILE_OFF = 1.25
const MIN_ADVANTAGE_OVER_SENTRY = 1
const MAX_GROWTH_MB = 2
const MEGABYTE = 2 ** 20

/** Measures local variables: cost of a thrown error, of code that does not throw, and memory growth. */
export async function* variables({ quick }) {
  const task = { frames: FRAMES, throws: quick ? 200 : 400, awaits: 100_000 }
  let results
  const figure = (subject, field) => median(results.get(subject).map((round) => round[field]))
  yield {
    title: 'Local variables: a thrown and caught error',
    async measure() {
      results = await interleaved(2, SUBJECTS, (subject) => runChild(file('variables-child.mjs'), { subject, ...task }))
      return FRAMES.flatMap((frames) => thrown(frames, figure))
    },
  }
  yield {
    title: 'Local variables: code that does not throw',
    measure: () => SUBJECTS.map((subject) => awaitRow(subject, figure)),
  }
  yield { title: 'Local variables: many errors', measure: () => soak(quick) }
}

function thrown(frames, figure) {
  const bare = figure('bare', frames)
  const sentry = figure('@sentry/node', frames)
  return SUBJECTS.map((subject) => {
    const micros = figure(subject, frames)
    const common = { name: `${frames} frames: ${subject}`, figure: micros, unit: 'µs', note: MEASUREMENT_NOTE }
    if (subject === 'bare') return row(common)
    if (subject !== 'ours, always') {
      const limit = subject.startsWith('ours') ? { max: MAX_RATIO_WHILE_OFF } : null
      return row({ ...common, ratio: micros / bare, against: 'bare', limit })
    }
    const cheaper = { ratio: sentry / micros, against: 'cheaper than @sentry/node' }
    return row({ ...common, ...cheaper, limit: { min: MIN_ADVANTAGE_OVER_SENTRY } })
  })
}

const MEASUREMENT_NOTE =
  'Median wall-clock time per throw, all with variables, without the production limits. adaptive: without an active session.'

function awaitRow(subject, figure) {
  const awaitNanoseconds = figure(subject, 'await')
  const common = { name: `an await: ${subject}`, figure: awaitNanoseconds, unit: 'ns' }
  if (subject === 'bare') return row(common)
  const isResting = subject === 'ours, off' || subject === 'ours, adaptive'
  const limit = isResting ? { max: MAX_RATIO_WHILE_OFF } : null
  return row({ ...common, ratio: awaitNanoseconds / figure('bare', 'await'), against: 'bare', limit })
}

async function soak(quick) {
  const errors = quick ? 5000 : 20_000
  const { before, after, files_before, files_after, read, seconds } = await runChild(
    file('variables-soak-child.mjs'),
    { errors },
    { flags: ['--expose-gc'] },
  )
  const name = `${errors.toLocaleString('en-US')} errors with variables`
  return [
    row({ name: `${name}: heap growth`, figure: (after - before) / MEGABYTE, unit: 'MB', limit: { max: MAX_GROWTH_MB } }), // biome-ignore format: one row
    row({ name: `${name}: additional open files`, figure: files_after - files_before, unit: '', limit: { max: 0 } }), // biome-ignore format: one row
    row({ name: `${name}: time`, figure: seconds, unit: 's', more: { read } }),
  ]
}
