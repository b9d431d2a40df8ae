import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Database } from '../../store/database.js'
import { randomPassword } from '../configuration.js'
import type { Counts, Figures, Phase } from './figures.js'
import { HostProcess } from './host-process.js'
import { measureLatencies, openPages, percentile } from './load.js'
import type { Scale, Scenario } from './scenarios.js'
import { countRecorded } from './scratch-database.js'
import { type Check, checkFigures } from './verdict.js'

export interface Measured {
  name: Scenario['name']
  title: string
  skipped: string | null
  /** Two runs without Faultboard, before and after the run with it. Their difference is the noise of the machine. */
  bare: Figures[]
  faultboard: Figures | null
  counts: Counts | null
  checks: Check[]
}

export interface Setup {
  config: string | undefined
  url: string
  database: Database
  folder: string
  scale: Scale
  stop: AbortSignal
  progress(line: string): void
}

/** Measures one scenario: without Faultboard, with it, and without it again. */
export async function measureScenario(scenario: Scenario, setup: Setup): Promise<Measured> {
  const title = scenario.title(setup.scale)
  const nothing = { bare: [], faultboard: null, counts: null, checks: [] }
  const skipped = (await scenario.missing?.()) ?? null
  if (skipped !== null) return { name: scenario.name, title, skipped, ...nothing }
  setup.progress(`${title}: without Faultboard`)
  const first = await measureBare(scenario, setup)
  setup.progress(`${title}: with Faultboard`)
  const { figures, counts } = await measureFaultboard(scenario, setup)
  setup.progress(`${title}: without Faultboard again`)
  const bare = [first, await measureBare(scenario, setup)]
  const checks = checkFigures(bare, figures, counts)
  return { name: scenario.name, title, skipped, bare, faultboard: figures, counts, checks }
}

async function measureBare(scenario: Scenario, setup: Setup): Promise<Figures> {
  const host = await HostProcess.start({ config: setup.config, tracker: null }, setup.stop)
  try {
    return await measureHost(host, setup, () => scenario.run(host, setup.scale))
  } finally {
    await host.stop()
  }
}

async function measureFaultboard(scenario: Scenario, setup: Setup): Promise<{ figures: Figures; counts: Counts }> {
  const { url, database, config, folder, scale, stop } = setup
  const fault = await scenario.createFault?.(url, database)
  try {
    const recordedBefore = await countRecorded(database)
    const tracker = {
      database: fault?.url ?? url,
      spool_path: join(folder, 'spool'),
      dashboard_username: 'prove',
      dashboard_password: randomPassword(),
    }
    const host = await HostProcess.start({ config, tracker }, stop)
    try {
      const figures = await measureHost(host, setup, async () => {
        await fault?.begin(host.pid)
        await scenario.run(host, scale).finally(() => fault?.end(host.pid))
      })
      const { thrown, dropped } = await host.call('settle')
      const recorded = (await countRecorded(database)) - recordedBefore
      return { figures, counts: { thrown, recorded, dropped: losses(dropped) } }
    } finally {
      await host.stop()
    }
  } finally {
    fault?.close()
  }
}

/** Reasons of `Tracker.stats().dropped` that count errors, unlike those that count failures or missing details. */
const LOSS_REASONS = [
  'ignored',
  'sampled_out',
  'reported_while_recording',
  'stack_exhausted',
  'refused_by_database',
  'spool_full',
  'spool_unwritable',
]

function losses(dropped: Record<string, number>): Record<string, number> {
  return Object.fromEntries(Object.entries(dropped).filter(([reason, count]) => LOSS_REASONS.includes(reason) && count))
}

async function measureHost(host: HostProcess, { scale }: Setup, work: () => Promise<unknown>): Promise<Figures> {
  await warmUp(host, scale)
  const before = await host.call('resources')
  const quiet = () => measurePhase(host, sleep(scale.quietMs), false)
  const phases = { before: await quiet(), during: await measurePhase(host, work(), true), after: await quiet() }
  await host.call('settle')
  return { ...phases, resources: { before, after: await host.call('resources') } }
}

const MAX_WARM_UP_ERRORS = 500
const WARM_UP_ERRORS_PER_SECOND = 1000

/** Warms up the JIT compiler, the dashboard and the connections that the host keeps open. */
async function warmUp(host: HostProcess, { errors }: Scale): Promise<void> {
  const storm = {
    ...{ count: Math.min(errors, MAX_WARM_UP_ERRORS), perSecond: WARM_UP_ERRORS_PER_SECOND },
    isUnique: false,
  }
  const work = Promise.all([host.call('throwErrors', storm), openPages(host)])
  await measureLatencies(host.origin, work, { hasFailures: true })
  await host.call('settle')
}

async function measurePhase(host: HostProcess, work: Promise<unknown>, hasFailures: boolean): Promise<Phase> {
  await host.call('longestStall')
  const { latencies, failures } = await measureLatencies(host.origin, work, { hasFailures })
  return {
    p50: percentile(latencies, 0.5),
    p99: percentile(latencies, 0.99),
    stall: await host.call('longestStall'),
    requests: latencies.length,
    failures,
  }
}
