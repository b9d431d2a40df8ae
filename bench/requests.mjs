import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { nextMessage, startChild } from './harness/child.mjs'
import { interleaved, mean, median, percentile } from './harness/measure.mjs'
import { row } from './harness/report.mjs'

const file = (name) => fileURLToPath(new URL(`requests/${name}`, import.meta.url))

const FRAMEWORKS = ['express', 'fastify']
/**
 * All processes start with the largest default size. V8 enlarges the young generation in steps, and one step changes the
 * cost of a request more than the tracker does.
 */
const YOUNG_GENERATION = '--min-semi-space-size=16'

/**
 * Variants by process. Equal processes differ by several percent, so the smallest difference is measured within one. Costs
 * of the tracker that affect the whole process do not count there.
 */
const PROCESSES = [
  ['bare', 'ours', 'ours_bound', 'bare_again'],
  ['bare_alone'],
  // An AsyncLocalStorage slows down every host of its process.
  ['scoped'],
  ['scoped_bound'],
  ['breadcrumbs'],
  ['breadcrumbs_bound'],
  ['sentry'],
]

/** In each slice, every host of the first process has another position. The position affects its speed. */
const SLICES = PROCESSES[0].length
/** The first requests compile the code. */
const WARM_REQUESTS = 4000
/**
 * Short enough to run at one speed of the machine. Most bursts include no garbage collection, so the figures do not
 * include its cost.
 */
const BURST_REQUESTS = 100
const BURSTS = 25
/** Ignores slow bursts, because a virtual machine can run at half speed for milliseconds or minutes. */
const BURST_PERCENTILE = 0.2

const MAX_ADDED_MICROS = 1.5
const MAX_RATIO_SCOPED = 1.04
const MAX_RATIO_WITH_BREADCRUMBS = 1.06

/** Measures the CPU time of a successful request, with and without the tracker. */
export async function* requests() {
  for (const framework of FRAMEWORKS) {
    yield { title: `Successful request, ${framework} (CPU time)`, measure: () => measureFramework(framework) }
  }
}

async function measureFramework(framework) {
  const load = startChild(file('load-child.mjs'))
  const micros = Object.fromEntries(PROCESSES.flat().map((variant) => [variant, []]))
  try {
    for (let slice = 0; slice < SLICES; slice++) {
      for (const [variant, figure] of await measureSlice(framework, slice, load)) micros[variant].push(figure)
    }
  } finally {
    await stop(load)
  }
  return resultRows(micros)
}

async function measureSlice(framework, slice, load) {
  const children = []
  const hosts = []
  try {
    for (const variants of PROCESSES) {
      const first = slice % variants.length
      const rotated = [...variants.slice(first), ...variants.slice(0, first)]
      const task = { framework, variants: rotated }
      const child = startChild(file('host-child.mjs'), task, { flags: [YOUNG_GENERATION] })
      children.push(child)
      const { ports } = await nextMessage(child)
      for (const [i, variant] of rotated.entries()) hosts.push({ variant, child, port: ports[i] })
    }
    for (const host of hosts) await measureBurst(host, load, WARM_REQUESTS)
    const bursts = await interleaved(BURSTS, hosts, (host) => measureBurst(host, load, BURST_REQUESTS))
    return hosts.map((host) => [host.variant, percentile(bursts.get(host), BURST_PERCENTILE)])
  } finally {
    await Promise.all(children.map(stop))
  }
}

async function stop(child) {
  if (child.exitCode !== null || child.signalCode !== null) return
  const exited = once(child, 'exit')
  if (child.connected) child.disconnect()
  await exited
}

/** Returns the CPU time per request in microseconds. */
async function measureBurst({ child, port }, load, requests) {
  const before = await cpuTime(child)
  load.send({ port, requests })
  await nextMessage(load)
  return ((await cpuTime(child)) - before) / requests
}

function cpuTime(child) {
  child.send('cpu')
  return nextMessage(child)
}

function resultRows(measured) {
  // Averages both bare hosts, because equal hosts differ.
  const bare_pair = measured.bare.map((figure, i) => (figure + measured.bare_again[i]) / 2)
  const micros = { ...measured, bare_pair }
  // Subtracts in each slice, because hosts that took turns ran under the same load. The mean cancels the positions.
  const addedBy = (variant, base) => mean(micros[variant].map((figure, i) => figure - micros[base][i]))
  const ratioOf = (variant, base) => 1 + addedBy(variant, base) / median(micros[base])
  const added = (name, variant, base, limits = {}) =>
    row({
      name,
      figure: addedBy(variant, base),
      unit: 'µs added',
      ratio: ratioOf(variant, base),
      against: 'bare',
      ...limits,
      note: MEASUREMENT_NOTE,
    })
  return [
    row({ name: 'bare', figure: median(micros.bare_alone), unit: 'µs' }),
    added('bare, measured twice (noise)', 'bare_again', 'bare'),
    added('ours, default options', 'ours', 'bare_pair', {
      judged: 'figure',
      limit: { max: MAX_ADDED_MICROS },
      bound: addedBy('ours_bound', 'bare_pair'),
    }),
    added('ours, request_scope always', 'scoped', 'bare_alone', {
      limit: { max: MAX_RATIO_SCOPED },
      bound: ratioOf('scoped_bound', 'bare_alone'),
    }),
    added('ours, enable_breadcrumbs with 10 breadcrumbs', 'breadcrumbs', 'bare_alone', {
      limit: { max: MAX_RATIO_WITH_BREADCRUMBS },
      bound: ratioOf('breadcrumbs_bound', 'bare_alone'),
    }),
    added('@sentry/node, errors only', 'sentry', 'bare_alone'),
  ]
}

const MEASUREMENT_NOTE =
  'CPU time of hosts that take turns in short bursts, without the slow bursts and without most garbage collections. The default options and their lower bound share a process with two bare hosts. Each other configuration has its own process. Lower bounds: a bare host with an empty middleware or hook, one that runs the request in an AsyncLocalStorage, and one that also appends 10 objects.'
