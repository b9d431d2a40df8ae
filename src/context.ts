import type { Options, OptionTable } from './config/options.js'
import type { JobEngine } from './jobs/engine.js'
import type { CountRejections } from './model/budgets.js'
import type { Counters } from './model/counters.js'
import type { Redactor } from './model/redaction/redaction.js'
import type { Tallies } from './store/counters/tallies.js'
import type { Database } from './store/database.js'
import type { Outbox } from './store/recording/outbox.js'
import type { Recorder } from './store/recording/recorder.js'
import type { Spool } from './store/spool/spool.js'

export interface Log {
  info(message: string): void
  warn(message: string): void
}

/** What every operation receives. Time and chance come from here, so that tests can hold them. */
export interface Context {
  config: Options
  database: Database
  /** Settles when the schema is there; a query on an outdated one rejects with what to do about it. */
  ready(): Promise<void>
  recorder: Recorder
  spool: Spool
  /** What is counted in memory and added to the sums of all processes. */
  tallies: Tallies
  /** What people are told of, written in the transaction that makes it true. */
  outbox: Outbox
  jobs: JobEngine
  redactor: Redactor
  counters: Counters
  /** Counts what a budget rejects. */
  reject: CountRejections
  /** All options of this tracker, including those of its diagnostics. */
  optionTable: OptionTable
  /** Deletes the outdated data of each diagnostic. */
  retention: readonly ((context: Context) => Promise<void>)[]
  log: Log
  now(): number
  random(): number
}
