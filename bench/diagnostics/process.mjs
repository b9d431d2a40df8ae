import { fileURLToPath } from 'node:url'
import { askChild } from '../harness/child.mjs'
import { interleaved, median } from '../harness/measure.mjs'
import { row } from '../harness/report.mjs'

const file = fileURLToPath(new URL('process-child.mjs', import.meta.url))

const SWITCHES = {
  off: {},
  'with system health': { enable_system_health: true },
}
const MOST_WITH_HEALTH = 1.15
const MOST_LOOK_MS = 1
const MOST_DUMP_MS = 60
const MOST_IDLE_SHARE = 0.02

/** Dumps, the health of the process with each error, and its health over time. */
export async function* measuredProcess({ quick }) {
  yield { title: 'Health of the process: a captured error', rows: await captured(quick) }
  yield { title: 'Health of the process: a process that does nothing', rows: await idle(quick) }
  yield { title: 'A diagnostic dump', rows: await dumped(quick) }
}

async function captured(quick) {
  const subjects = Object.keys(SWITCHES)
  const results = await interleaved(quick ? 4 : 8, subjects, (subject) =>
    askChild(file, { deed: 'capture', settings: SWITCHES[subject], chunks: 120 }),
  )
  const figure = (subject) => median(results.get(subject).map(({ micros }) => micros))
  const look = median(results.get('with system health').map(({ look_ms }) => look_ms))
  return [
    row({ name: 'an error: off', figure: figure('off'), unit: 'µs' }),
    row({
      name: 'an error: with system health',
      figure: figure('with system health'),
      unit: 'µs',
      ratio: figure('with system health') / figure('off'),
      against: 'off',
      limit: { most: MOST_WITH_HEALTH },
      note: 'Processor time until it is buffered; errors of one second share one look at the process.',
    }),
    row({
      name: 'an error that takes the look itself, 400 timers open',
      figure: look,
      unit: 'ms',
      limit: { most: MOST_LOOK_MS },
    }),
  ]
}

async function idle(quick) {
  const on = { enable_system_health: true, enable_process_health: true, enable_diagnostic_dump: true }
  const task = { deed: 'idle', seconds: quick ? 6 : 20 }
  const results = await interleaved(quick ? 1 : 3, ['off', 'on'], (subject) =>
    askChild(file, { ...task, settings: subject === 'on' ? on : {} }),
  )
  const share = (subject) => median(results.get(subject).map(({ share }) => share))
  return [
    row({ name: 'off', figure: share('off') * 100, unit: '% of a core' }),
    row({
      name: 'all that measures switched on',
      figure: share('on') * 100,
      unit: '% of a core',
      limit: { most: (share('off') + MOST_IDLE_SHARE) * 100 },
      judged: 'figure',
      note: 'The first row of the health of the process is written within this time.',
    }),
  ]
}

async function dumped(quick) {
  const results = await interleaved(quick ? 1 : 3, ['dump'], () =>
    askChild(file, { deed: 'dump', settings: { enable_diagnostic_dump: true }, dumps: quick ? 5 : 15 }),
  )
  const figure = (name) => median(results.get('dump').map((round) => round[name]))
  return [
    row({ name: 'the first', figure: figure('first'), unit: 'ms' }),
    row({
      name: 'a further one',
      figure: figure('further'),
      unit: 'ms',
      limit: { most: MOST_DUMP_MS },
      note: 'Processor time with its row in an embedded SQLite; 100 ms in which it waits for the event loop come on top.',
    }),
    row({ name: 'with the report of Node.js', figure: figure('report'), unit: 'ms' }),
  ]
}
