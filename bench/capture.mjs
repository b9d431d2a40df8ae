import { fileURLToPath } from 'node:url'
import { SUBJECTS } from './capture/subjects.mjs'
import { runChild } from './harness/child.mjs'
import { interleaved, median } from './harness/measure.mjs'
import { row } from './harness/report.mjs'

const file = (name) => fileURLToPath(new URL(`capture/${name}`, import.meta.url))

const DISTINCT = { distinct: true }
const REQUEST = { distinct: true, details: true }
/** Errors to capture, with the maximum ratio to bare and the minimum advantage over @sentry/node. */
const KINDS = [
  { name: '10 frames, same message', frames: 10, maxRatioToBare: 1.4, minAdvantage: 12 },
  { name: '10 frames, distinct messages', frames: 10, ...DISTINCT, maxRatioToBare: 1.6, minAdvantage: 11 },
  { name: '10 frames, distinct messages and request', frames: 10, ...REQUEST, maxRatioToBare: 1.8, minAdvantage: 10 },
  { name: '50 frames, same message', frames: 50, maxRatioToBare: 2, minAdvantage: 10 },
  { name: '50 frames, distinct messages', frames: 50, ...DISTINCT, maxRatioToBare: 2, minAdvantage: 10 },
  {
    name: '50 frames, distinct messages and request',
    frames: 50,
    ...REQUEST,
    maxRatioToBare: 2,
    minAdvantage: 10,
    quick: false,
  },
]

const LOWER_BOUND = 'lower bound'
const STORM_ERRORS = 10_000
const MAX_STORM_MEGABYTES = { peak: 10, after: 5 }
const MAX_START = {
  configured: { ms: 80, megabytes: 10 },
  ready: { ms: 150, megabytes: 18 },
}
const MEGABYTE = 2 ** 20

/** Measures the cost of an error on the host's thread, and the cost of the tracker for its process. */
export async function* capture({ quick }) {
  yield { title: 'Cost of a captured error on the main thread', measure: () => cost(quick) }
  yield { title: 'Storm of errors', measure: () => storm(quick) }
  yield { title: 'Import and configure', measure: () => start(quick) }
}

async function cost(quick) {
  const subjects = Object.keys(SUBJECTS)
  const kinds = quick ? KINDS.filter(({ quick = true }) => quick) : KINDS
  const task = { kinds, chunks: quick ? 15 : 40 }
  const results = await interleaved(quick ? 2 : 3, subjects, (subject) =>
    runChild(file('cost-child.mjs'), { subject, ...task }),
  )
  const figure = (subject, kind, field) => median(results.get(subject).map((round) => round[kind][field]))
  return kinds.flatMap(({ name: kind, maxRatioToBare, minAdvantage }) => {
    const sentry = figure('@sentry/node', kind, 'ratio')
    const bound = figure(LOWER_BOUND, kind, 'ratio')
    return subjects.flatMap((subject) => {
      const isOurs = subject.startsWith('ours')
      const ratio = figure(subject, kind, 'ratio')
      const common = {
        unit: 'µs',
        figure: figure(subject, kind, 'until_buffered'),
        note: isOurs ? CPU_TIME_NOTE : null,
      }
      const rows = [
        row({
          ...common,
          name: `${kind}: ${subject}`,
          ...(subject === 'bare' ? {} : { ratio, against: 'bare' }),
          ...(isOurs && { limit: { max: maxRatioToBare }, bound }),
        }),
      ]
      if (!isOurs) return rows
      const cheaper = { ratio: sentry / ratio, against: 'cheaper than @sentry/node' }
      const minimum = { limit: { min: minAdvantage }, bound: sentry / bound }
      rows.push(row({ ...common, name: `${kind}: ${subject}, advantage`, ...cheaper, ...minimum }))
      const committed = { name: `${kind}: ${subject}, committed`, figure: figure(subject, kind, 'all'), unit: 'µs' }
      rows.push(row({ ...committed, ratio: figure(subject, kind, 'ratio_of_all'), against: 'bare', better: 'lower' }))
      return rows
    })
  })
}

const CPU_TIME_NOTE =
  'CPU time. ours: LogError until the error is buffered, without awaiting; committed: with folding, SQLite and journal. Peers: until their transport or sink has the error. lower bound: reads the stack, redacts with one pattern, signs, copies the request and appends the record.'

async function storm(quick) {
  const subjects = Object.keys(SUBJECTS).filter((subject) => subject !== LOWER_BOUND)
  const results = await interleaved(quick ? 1 : 3, subjects, (subject) =>
    runChild(file('storm-child.mjs'), { subject, errors: STORM_ERRORS }, { flags: ['--expose-gc'] }),
  )
  const medianOf = (subject, read) => median(results.get(subject).map(read))
  return subjects.flatMap((subject) => {
    const isOurs = subject.startsWith('ours')
    const name = `${STORM_ERRORS.toLocaleString('en-US')} errors, ${subject}`
    const growth = (moment, field) => ({
      figure: medianOf(subject, (round) => round[moment][field] - round.before[field]) / MEGABYTE,
      unit: 'MB',
      ...(isOurs && {
        ratio: medianOf(subject, (round) => round[moment].all) / medianOf('bare', (round) => round[moment].all),
      }),
      ...(isOurs && { against: 'memory of bare', judged: 'figure' }),
    })
    const limited = (moment) => ({
      ...growth(moment, 'kept'),
      ...(isOurs && { limit: { max: MAX_STORM_MEGABYTES[moment] }, note: STORM_NOTE }),
    })
    return [
      row({
        name: `${name}: memory before`,
        figure: medianOf(subject, ({ before }) => before.all) / MEGABYTE,
        unit: 'MB',
      }),
      row({ name: `${name}: growth at the peak`, ...limited('peak') }),
      row({ name: `${name}: growth at the peak, with the young generation`, ...growth('peak', 'all') }),
      row({ name: `${name}: growth after the storm`, ...limited('after') }),
      row({ name: `${name}: growth after the storm, with the young generation`, ...growth('after', 'all') }),
      row({ name: `${name}: until drained`, figure: medianOf(subject, (round) => round.drained_ms) / 1000, unit: 's' }),
    ]
  })
}

const STORM_NOTE =
  'Growth of the resident memory without the young generation of V8, which V8 enlarges while a program allocates heavily.'

async function start(quick) {
  const subjects = ['ours', '@sentry/node', 'pino']
  const results = await interleaved(quick ? 3 : 5, subjects, (subject) =>
    runChild(file('start-child.mjs'), { subject }),
  )
  const medianOf = (subject, moment, field) => median(results.get(subject).map((round) => round[moment][field]))
  const timeRow = (name, subject, moment) =>
    row({ name, unit: 'ms', figure: medianOf(subject, moment, 'ms'), ...compared(subject, moment, 'ms', 'ms') })
  const memoryRow = (name, subject, moment) => {
    const figure = medianOf(subject, moment, 'bytes') / MEGABYTE
    return row({ name, unit: 'MB', figure, ...compared(subject, moment, 'bytes', 'megabytes') })
  }
  const compared = (subject, moment, field, limit) =>
    subject === 'ours' && {
      ratio: medianOf(subject, moment, field) / medianOf('pino', 'configured', field),
      against: 'pino',
      judged: 'figure',
      limit: { max: MAX_START[moment][limit] },
    }
  return [
    ...subjects.flatMap((subject) => [
      timeRow(`${subject}: time`, subject, 'configured'),
      memoryRow(`${subject}: memory`, subject, 'configured'),
    ]),
    timeRow('ours: time until ready (new database)', 'ours', 'ready'),
    memoryRow('ours: memory when ready', 'ours', 'ready'),
  ]
}
