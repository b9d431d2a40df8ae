import { fileURLToPath } from 'node:url'
import { runChild } from './harness/child.mjs'
import { median } from './harness/measure.mjs'
import { row } from './harness/report.mjs'

const file = (name) => fileURLToPath(new URL(`requests/${name}`, import.meta.url))

const FRAMEWORKS = ['express', 'fastify']
const MAX_ADDED_MICROS = 1.5
const MAX_RATIO_SCOPED = 1.04
const MAX_RATIO_WITH_BREADCRUMBS = 1.06

/** Measures the CPU time of a successful request, with and without the tracker. */
export async function* requests({ quick }) {
  const slices = quick ? 9 : 14
  for (const framework of FRAMEWORKS) {
    yield { title: `Successful request, ${framework} (CPU time)`, measure: () => measureFramework(framework, slices) }
  }
}

async function measureFramework(framework, slices) {
  const ours = await runChild(file('server-child.mjs'), { framework, slices, requests: 2500 })
  const sentry = await runChild(file('sentry-child.mjs'), { framework, slices: Math.ceil(slices / 3), requests: 1500 })
  return resultRows(ours, sentry)
}

function resultRows(ours, sentry) {
  // Uses twice as many bare hosts, because two hosts of one process are never equally fast.
  const adjacentBare = ours.bare.map((micros, i) => (micros + ours.bare_again[i]) / 2)
  const bare = median(adjacentBare)
  // Compares each slice with the adjacent bare slices, which ran under the same load.
  const added = (slices) => median(slices.map((micros, i) => micros - adjacentBare[i]))
  const ratioOf = (micros) => (bare + micros) / bare
  const compared = (name, slices, limits = {}) => {
    const micros = added(slices)
    return row({
      name,
      figure: micros,
      unit: 'µs added',
      ratio: ratioOf(micros),
      against: 'bare',
      ...limits,
      note: MEASUREMENT_NOTE,
    })
  }
  return [
    row({ name: 'bare', figure: bare, unit: 'µs' }),
    compared('bare, measured twice (noise)', ours.bare),
    compared('ours, default options', ours.ours, { judged: 'figure', limit: { max: MAX_ADDED_MICROS } }),
    compared('ours, request_scope always', ours.scoped, {
      limit: { max: MAX_RATIO_SCOPED },
      bound: ratioOf(added(ours.scoped_bound)),
    }),
    compared('ours, enable_breadcrumbs with 10 breadcrumbs', ours.breadcrumbs, {
      limit: { max: MAX_RATIO_WITH_BREADCRUMBS },
      bound: ratioOf(added(ours.breadcrumbs_bound)),
    }),
    row({
      name: '@sentry/node, errors only',
      figure: median(sentry.micros) - bare,
      unit: 'µs added',
      ratio: median(sentry.micros) / bare,
      against: 'bare',
    }),
  ]
}

const MEASUREMENT_NOTE =
  'Slices of requests to hosts in one process, in alternating order, each compared with two adjacent bare slices. Lower bounds: a bare host that runs the request in an AsyncLocalStorage, and one that also appends 10 objects.'
