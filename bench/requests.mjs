import { fileURLToPath } from 'node:url'
import { nextMessage, startChild } from './harness/child.mjs'
import { interleaved, median, percentile } from './harness/measure.mjs'
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

/** The first requests compile the code. */
const WARM_REQUESTS = 4000
/** Short enough to run at one speed of the machine. Most bursts include no garbage collection. */
const BURST_REQUESTS = 100
const BURSTS = 25
/** Ignores slow bursts, because a virtual machine can run at half speed for milliseconds or minutes. */
const BURST_PERCENTILE = 0.2

const MAX_ADDED_MICROS = 1.5
const MAX_RATIO_SCOPED = 1.04
const MAX_RATIO_WITH_BREADCRUMBS = 1.06

/** Measures the CPU time of a successful request, with and without the tracker. */
export async function* requests({ quick }) {
  const slices = quick ? 4 : 5
  for (const framework of FRAMEWORKS) {
    yield { title: `Successful request, ${framework} (CPU time)`, measure: () => measureFramework(framework, slices) }
  }
}

async function measureFramework(framework, slices) {
  const load = startChild(file('load-child.mjs'))
  const micros = Object.fromEntries(PROCESSES.flat().map((variant) => [variant, []]))
  for (let slice = 0; slice < slices; slice++) {
    const hosts = await startHosts(framework)
    for (const host of hosts) await measureBurst(host, load, WARM_REQUESTS)
    const bursts = await interleaved(BURSTS, hosts, (host) => measureBurst(host, load, BURST_REQUESTS))
    for (const host of hosts) micros[host.variant].push(percentile(bursts.get(host), BURST_PERCENTILE))
    for (const child of new Set(hosts.map(({ child }) => child))) child.disconnect()
  }
  load.disconnect()
  return resultRows(micros)
}

async function startHosts(framework) {
  const hosts = []
  for (const variants of PROCESSES) {
    const child = startChild(file('host-child.mjs'), { framework, variants }, { flags: [YOUNG_GENERATION] })
    const { ports } = await nextMessage(child)
    for (const [i, variant] of variants.entries()) hosts.push({ variant, child, port: ports[i] })
  }
  return hosts
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
  const { bare_alone, bare, bare_again } = measured
  // Averages both bare hosts, because equal hosts differ.
  const micros = { ...measured, bare_pair: bare.map((figure, i) => (figure + bare_again[i]) / 2) }
  const ratioOf = (added) => 1 + added / median(bare_alone)
  // Subtracts in each slice, because hosts that took turns ran under the same load.
  const addedBetween = (variant, base) => median(micros[variant].map((figure, i) => figure - micros[base][i]))
  const added = (name, figure, limits = {}) =>
    row({ name, figure, unit: 'µs added', ratio: ratioOf(figure), against: 'bare', ...limits, note: MEASUREMENT_NOTE })
  return [
    row({ name: 'bare', figure: median(bare_alone), unit: 'µs' }),
    added('bare, measured twice (noise)', addedBetween('bare_again', 'bare_pair')),
    added('ours, default options', addedBetween('ours', 'bare_pair'), {
      judged: 'figure',
      limit: { max: MAX_ADDED_MICROS },
      bound: addedBetween('ours_bound', 'bare_pair'),
    }),
    added('ours, request_scope always', addedBetween('scoped', 'bare_alone'), {
      limit: { max: MAX_RATIO_SCOPED },
      bound: ratioOf(addedBetween('scoped_bound', 'bare_alone')),
    }),
    added('ours, enable_breadcrumbs with 10 breadcrumbs', addedBetween('breadcrumbs', 'bare_alone'), {
      limit: { max: MAX_RATIO_WITH_BREADCRUMBS },
      bound: ratioOf(addedBetween('breadcrumbs_bound', 'bare_alone')),
    }),
    added('@sentry/node, errors only', addedBetween('sentry', 'bare_alone')),
  ]
}

const MEASUREMENT_NOTE =
  'Hosts that take turns in short bursts, without the slow bursts. The default options and their lower bound share a process with two bare hosts. Each other configuration has its own process. Lower bounds: a bare host with an empty middleware or hook, one that runs the request in an AsyncLocalStorage, and one that also appends 10 objects.'
