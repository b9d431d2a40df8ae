import { setTimeout as sleep } from 'node:timers/promises'
import type { Database } from '../../store/database.js'
import { type Fault, fullDisk, hangingDatabase, missingDiskLimit } from './faults.js'
import type { HostProcess } from './host-process.js'
import { viewPages } from './load.js'

export interface Scale {
  /** Errors of a storm. */
  errors: number
  /** Duration of a failure and of the open dashboard. */
  failureMs: number
  /** Duration of the measurements before and after. */
  quietMs: number
}

export interface Scenario {
  name: 'storm' | 'unique' | 'hang' | 'full_disk' | 'viewers'
  title(scale: Scale): string
  /** Reason why the scenario cannot run on this machine. */
  missing?(): Promise<string | null>
  createFault?(url: string, database: Database): Promise<Fault>
  /** Causes the errors or the requests of the scenario. */
  run(host: HostProcess, scale: Scale): Promise<unknown>
}

/** More than a busy process of a web application can cause with requests. */
const STORM_ERRORS_PER_SECOND = 5000
const FAILURE_ERRORS_PER_SECOND = 1000
const VIEWED_ERRORS_PER_SECOND = 20

/** Full measurements with 100,000 errors take six minutes. A test uses a few hundred errors. */
export function scaleFor(errors: number): Scale {
  return {
    errors,
    failureMs: Math.min(10_000, Math.max(200, errors / 2)),
    quietMs: Math.min(3000, Math.max(100, errors / 10)),
  }
}

export const SCENARIOS: readonly Scenario[] = [
  {
    name: 'storm',
    title: ({ errors }) => `${count(errors)} errors, the same message, ${count(STORM_ERRORS_PER_SECOND)}/s`,
    run: (host, { errors }) => throwErrors(host, errors, STORM_ERRORS_PER_SECOND),
  },
  {
    name: 'unique',
    title: ({ errors }) => `${count(errors)} errors, unique messages, ${count(STORM_ERRORS_PER_SECOND)}/s`,
    run: (host, { errors }) => throwErrors(host, errors, STORM_ERRORS_PER_SECOND, true),
  },
  {
    name: 'hang',
    title: (scale) => `Database hangs for ${seconds(scale)}, ${count(FAILURE_ERRORS_PER_SECOND)} errors/s`,
    createFault: hangingDatabase,
    run: throwDuringFailure,
  },
  {
    name: 'full_disk',
    title: (scale) => `Disk is full for ${seconds(scale)}, ${count(FAILURE_ERRORS_PER_SECOND)} errors/s`,
    missing: missingDiskLimit,
    createFault: fullDisk,
    run: throwDuringFailure,
  },
  {
    name: 'viewers',
    title: (scale) => `20 dashboard viewers reload every 5 s for ${seconds(scale)}`,
    run: (host, scale) =>
      Promise.all([
        viewPages(host, scale.failureMs),
        throwErrors(host, (scale.failureMs / 1000) * VIEWED_ERRORS_PER_SECOND, VIEWED_ERRORS_PER_SECOND),
      ]),
  },
]

function throwDuringFailure(host: HostProcess, { failureMs }: Scale): Promise<unknown> {
  const errors = (failureMs / 1000) * FAILURE_ERRORS_PER_SECOND
  return Promise.all([throwErrors(host, errors, FAILURE_ERRORS_PER_SECOND), sleep(failureMs)])
}

function throwErrors(host: HostProcess, errors: number, perSecond: number, isUnique = false): Promise<void> {
  return host.call('throwErrors', { count: errors, perSecond, isUnique })
}

function seconds({ failureMs }: Scale): string {
  return `${failureMs / 1000} s`
}

function count(value: number): string {
  return value.toLocaleString('en-US')
}
