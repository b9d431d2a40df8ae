import { fileURLToPath } from 'node:url'
import { runChild } from '../harness/child.mjs'
import { interleaved, median } from '../harness/measure.mjs'
import { row } from '../harness/report.mjs'

const file = fileURLToPath(new URL('process-child.mjs', import.meta.url))

const SUBJECT_SETTINGS = {
  off: {},
  'with system health': { enable_system_health: true },
}
const MAX_RATIO_WITH_HEALTH = 1.15
const MAX_MEASUREMENT_MS = 1
const MAX_DUMP_MS = 60
const MAX_IDLE_SHARE = 0.02

/** Measures dumps, process state per error, and process health over time. */
export async function* measuredProcess({ quick }) {
  yield { title: 'Process state: a captured error', measure: () => measureErrors(quick) }
  yield { title: 'Process health: an idle process', measure: () => idle(quick) }
  yield { title: 'A diagnostic dump', measure: () => measureDumps(quick) }
}

async function measureErrors(quick) {
  const subjects = Object.keys(SUBJECT_SETTINGS)
  const results = await interleaved(quick ? 4 : 6, subjects, (subject) =>
    runChild(file, { action: 'capture', settings: SUBJECT_SETTINGS[subject], chunks: 120 }),
  )
  const figure = (subject) => median(results.get(subject).map(({ micros }) => micros))
  const duration = median(results.get('with system health').map(({ measurement_ms }) => measurement_ms))
  return [
    row({ name: 'an error: off', figure: figure('off'), unit: 'µs' }),
    row({
      name: 'an error: with system health',
      figure: figure('with system health'),
      unit: 'µs',
      ratio: figure('with system health') / figure('off'),
      against: 'off',
      limit: { max: MAX_RATIO_WITH_HEALTH },
      note: 'CPU time until the error is buffered. Errors within one second share one measurement.',
    }),
    row({
      name: 'an error with its own measurement, 400 active timers',
      figure: duration,
      unit: 'ms',
      limit: { max: MAX_MEASUREMENT_MS },
    }),
  ]
}

async function idle(quick) {
  const on = { enable_system_health: true, enable_process_health: true, enable_diagnostic_dump: true }
  const task = { action: 'idle', seconds: quick ? 6 : 10 }
  const results = await interleaved(quick ? 1 : 2, ['off', 'on'], (subject) =>
    runChild(file, { ...task, settings: subject === 'on' ? on : {} }),
  )
  const share = (subject) => median(results.get(subject).map(({ share }) => share))
  return [
    row({ name: 'off', figure: share('off') * 100, unit: '% of a core' }),
    row({
      name: 'all measurements on',
      figure: share('on') * 100,
      unit: '% of a core',
      limit: { max: (share('off') + MAX_IDLE_SHARE) * 100 },
      judged: 'figure',
      note: 'Includes writing the first row of process health.',
    }),
  ]
}

async function measureDumps(quick) {
  const results = await interleaved(quick ? 1 : 3, ['dump'], () =>
    runChild(file, { action: 'dump', settings: { enable_diagnostic_dump: true }, dumps: quick ? 5 : 15 }),
  )
  const figure = (name) => median(results.get('dump').map((round) => round[name]))
  return [
    row({ name: 'first dump', figure: figure('first'), unit: 'ms' }),
    row({
      name: 'further dump',
      figure: figure('further'),
      unit: 'ms',
      limit: { max: MAX_DUMP_MS },
      note: 'CPU time including its row in SQLite, without the 100 ms of waiting for the event loop.',
    }),
    row({ name: 'with the Node.js report', figure: figure('report'), unit: 'ms' }),
  ]
}
