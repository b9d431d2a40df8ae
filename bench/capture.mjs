import { fileURLToPath } from 'node:url'
import { SUBJECTS } from './capture/subjects.mjs'
import { askChild } from './harness/child.mjs'
import { interleaved, median } from './harness/measure.mjs'
import { row } from './harness/report.mjs'

const file = (name) => fileURLToPath(new URL(`capture/${name}`, import.meta.url))

const KINDS = [10, 50].flatMap((frames) => [
  { name: `${frames} frames, same message`, frames },
  { name: `${frames} frames, distinct messages`, frames, distinct: true },
  {
    name: `${frames} frames, distinct messages and request`,
    frames,
    distinct: true,
    details: true,
    quick: frames === 10,
  },
])

const MAX_OF_BARE = 2
const MIN_CHEAPER_THAN_SENTRY = 10
const MAX_START = { ms: 120, megabytes: 15 }
const MEGABYTE = 2 ** 20

/** Measures the cost of an error on the host's thread, and the cost of the tracker for its process. */
export async function* capture({ quick }) {
  yield { title: 'Cost of a captured error on the main thread', rows: await cost(quick) }
  yield { title: 'Storm of errors', rows: await storm(quick) }
  yield { title: 'Import and configure', rows: await start(quick) }
}

async function cost(quick) {
  const subjects = Object.keys(SUBJECTS)
  const kinds = quick ? KINDS.filter(({ quick = true }) => quick) : KINDS
  const task = { kinds, chunks: quick ? 15 : 60 }
  const results = await interleaved(quick ? 2 : 5, subjects, (subject) =>
    askChild(file('cost-child.mjs'), { subject, ...task }),
  )
  const figure = (subject, kind, what) => median(results.get(subject).map((round) => round[kind][what]))
  return kinds.flatMap(({ name: kind }) => {
    const sentry = figure('@sentry/node', kind, 'ratio')
    return subjects.flatMap((subject) => {
      const own = subject.startsWith('ours')
      const ratio = figure(subject, kind, 'ratio')
      const common = { unit: 'µs', figure: figure(subject, kind, 'until_buffered'), note: own ? HOW : null }
      const rows = [
        row({
          ...common,
          name: `${kind}: ${subject}`,
          ...(subject === 'bare' ? {} : { ratio, against: 'bare' }),
          limit: own ? { max: MAX_OF_BARE } : null,
        }),
      ]
      if (!own) return rows
      const cheaper = { ratio: sentry / ratio, against: 'cheaper than @sentry/node' }
      rows.push(row({ ...common, name: `${kind}: ${subject}`, ...cheaper, limit: { min: MIN_CHEAPER_THAN_SENTRY } }))
      const committed = { name: `${kind}: ${subject}, committed`, figure: figure(subject, kind, 'all'), unit: 'µs' }
      rows.push(row({ ...committed, ratio: figure(subject, kind, 'ratio_of_all'), against: 'bare' }))
      return rows
    })
  })
}

const HOW =
  'CPU time. ours: LogError until the error is buffered, without awaiting; committed: with folding, SQLite and journal. Peers: until their transport or sink has the error.'

async function storm(quick) {
  const errors = quick ? 10_000 : 50_000
  const subjects = Object.keys(SUBJECTS)
  const results = await interleaved(quick ? 1 : 3, subjects, (subject) =>
    askChild(file('storm-child.mjs'), { subject, errors }, { flags: ['--expose-gc'] }),
  )
  return subjects.flatMap((subject) => {
    const of = (what) => median(results.get(subject).map((round) => round[what]))
    const name = `${errors.toLocaleString('en-US')} errors, ${subject}`
    return [
      row({ name: `${name}: memory before`, figure: of('before') / MEGABYTE, unit: 'MB' }),
      row({ name: `${name}: growth at the peak`, figure: (of('peak') - of('before')) / MEGABYTE, unit: 'MB' }),
      row({ name: `${name}: growth after`, figure: (of('after') - of('before')) / MEGABYTE, unit: 'MB' }),
      row({ name: `${name}: until drained`, figure: of('drained_ms') / 1000, unit: 's' }),
    ]
  })
}

async function start(quick) {
  const subjects = ['ours', '@sentry/node', 'pino']
  const results = await interleaved(quick ? 3 : 5, subjects, (subject) =>
    askChild(file('start-child.mjs'), { subject }),
  )
  const rows = subjects.flatMap((subject) => {
    const of = (moment, what) => median(results.get(subject).map((round) => round[moment][what]))
    const own = subject === 'ours'
    const time = { name: `${subject}: time`, figure: of('configured', 'ms'), unit: 'ms' }
    const memory = { name: `${subject}: memory`, figure: of('configured', 'bytes') / MEGABYTE, unit: 'MB' }
    return [
      row({ ...time, limit: own ? { max: MAX_START.ms } : null }),
      row({ ...memory, limit: own ? { max: MAX_START.megabytes } : null }),
      ...(own
        ? [
            row({ name: 'ours: time until ready (new database)', figure: of('ready', 'ms'), unit: 'ms' }),
            row({ name: 'ours: memory when ready', figure: of('ready', 'bytes') / MEGABYTE, unit: 'MB' }),
          ]
        : []),
    ]
  })
  return rows
}
