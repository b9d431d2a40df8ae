import { fileURLToPath } from 'node:url'
import { askChild } from './harness/child.mjs'
import { median } from './harness/measure.mjs'
import { row } from './harness/report.mjs'

const file = (name) => fileURLToPath(new URL(`requests/${name}`, import.meta.url))

const FRAMEWORKS = ['express', 'fastify']
const MAX_OF_BARE = 1.03
/** Allowed absolute difference if the noise of the machine exceeds the limit. */
const MAX_ADDED_MICROS = 1.5

/** Measures the CPU time of a successful request, with and without the tracker. */
export async function* requests({ quick }) {
  for (const framework of FRAMEWORKS) {
    const slices = quick ? 10 : 30
    const ours = await askChild(file('server-child.mjs'), { framework, slices, requests: 2500 })
    const sentry = await askChild(file('sentry-child.mjs'), {
      framework,
      slices: Math.ceil(slices / 3),
      requests: 1500,
    })
    yield { title: `Successful request, ${framework} (CPU time)`, rows: rowsOf(ours, sentry) }
  }
}

function rowsOf(ours, sentry) {
  // Uses twice as many bare hosts, because two hosts of one process are never equally fast.
  const beside = ours.bare.map((micros, i) => (micros + ours.bare_again[i]) / 2)
  const bare = median(beside)
  // Compares each slice with the adjacent bare slices, which ran under the same load.
  const added = (slices) => median(slices.map((micros, i) => micros - beside[i]))
  const compared = (name, slices, limit) => {
    const micros = added(slices)
    const within = micros <= MAX_ADDED_MICROS
    return row({
      name,
      figure: bare + micros,
      unit: 'µs',
      ratio: (bare + micros) / bare,
      against: 'bare',
      limit: limit && (within ? { max: Math.max(MAX_OF_BARE, (bare + micros) / bare) } : { max: MAX_OF_BARE }),
      more: { 'added µs': micros },
      note: limit ? HOW : null,
    })
  }
  return [
    row({ name: 'bare', figure: bare, unit: 'µs' }),
    compared('bare, measured twice (noise)', ours.bare),
    compared('ours, default options', ours.ours, true),
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

const HOW = `Slices of requests to hosts in one process, in alternating order, each compared with two adjacent bare slices. The limit is ${MAX_OF_BARE} x bare, or ${MAX_ADDED_MICROS} µs added.`
