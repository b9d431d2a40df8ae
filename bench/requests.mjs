import { fileURLToPath } from 'node:url'
import { askChild } from './harness/child.mjs'
import { median } from './harness/measure.mjs'
import { row } from './harness/report.mjs'

const file = (name) => fileURLToPath(new URL(`requests/${name}`, import.meta.url))

const FRAMEWORKS = ['express', 'fastify']
const MOST_OF_BARE = 1.03
/** Where the noise of the machine is larger than the limit, so much may be added instead. */
const MOST_ADDED_MICROS = 1.5

/** What a request that does not fail costs the host's processor, with the tracker and without it. */
export async function* requests({ quick }) {
  for (const framework of FRAMEWORKS) {
    const slices = quick ? 10 : 30
    const ours = await askChild(file('server-child.mjs'), { framework, slices, requests: 2500 })
    const sentry = await askChild(file('sentry-child.mjs'), {
      framework,
      slices: Math.ceil(slices / 3),
      requests: 1500,
    })
    yield { title: `A request that does not fail, ${framework} (processor time)`, rows: rowsOf(ours, sentry) }
  }
}

function rowsOf(ours, sentry) {
  // Twice as many without anything: no two hosts of one process are equally fast.
  const beside = ours.bare.map((micros, i) => (micros + ours.bare_again[i]) / 2)
  const bare = median(beside)
  // Each slice is compared with the bare ones beside it: the machine is as slow for both.
  const added = (slices) => median(slices.map((micros, i) => micros - beside[i]))
  const compared = (name, slices, limit) => {
    const micros = added(slices)
    const within = micros <= MOST_ADDED_MICROS
    return row({
      name,
      figure: bare + micros,
      unit: 'µs',
      ratio: (bare + micros) / bare,
      against: 'bare',
      limit: limit && (within ? { most: Math.max(MOST_OF_BARE, (bare + micros) / bare) } : { most: MOST_OF_BARE }),
      more: { 'added µs': micros },
      note: limit ? HOW : null,
    })
  }
  return [
    row({ name: 'bare', figure: bare, unit: 'µs' }),
    compared('one of the two bare hosts: the noise of this run', ours.bare),
    compared('ours, default switches', ours.ours, true),
    compared('ours, request_scope always', ours.scoped),
    compared('ours, enable_breadcrumbs with 10 breadcrumbs', ours.breadcrumbs),
    row({
      name: '@sentry/node, errors only',
      figure: median(sentry.micros),
      unit: 'µs',
      ratio: median(sentry.micros) / bare,
      against: 'bare',
    }),
  ]
}

const HOW = `Slices of requests to hosts in one process, in changing order, each compared with two bare ones beside it. The limit is ${MOST_OF_BARE} x bare, or ${MOST_ADDED_MICROS} µs added.`
