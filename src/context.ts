import type { Options, OptionTable } from './config/options.js'
import type { JobEngine } from './jobs/engine.js'
import type { CountRejections } from './model/budgets.js'
import type { Counters } from './model/counters.js'
import type { AuditTrail } from './model/people/audit.js'
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

/** Dependencies of every operation, including clock and randomness, which tests replace. */
export interface Context {
  config: Options
  /** Usable after `ready`, like the outbox and the job engine, because these modules are loaded in the background. */
  database: Database
  /** Resolves when the schema is current. Rejects with instructions if it is outdated. */
  ready(): Promise<void>
  recorder: Recorder
  spool: Spool
  /** In-memory counts to add to the sums of all processes. */
  tallies: Tallies
  /** Notifications, stored in the transaction of the change that they report. */
  outbox: Outbox
  jobs: JobEngine
  /** Records changes for the Audit page. */
  audit: AuditTrail
  redactor: Redactor
  counters: Counters
  /** Counts rejections of a client limit. */
  reject: CountRejections
  /** All options of this tracker, including those of its diagnostics. */
  optionTable: OptionTable
  /** Functions that delete the expired data of each diagnostic. */
  retention: readonly ((context: Context) => Promise<void>)[]
  log: Log
  /** Banner above every dashboard page. Null for none. */
  banner: ((request: Request) => Banner | null) | null
  /** True while the demo records its history, whose counts must not be compared yet. */
  isRecordingHistory(): boolean
  now(): number
  random(): number
}

/** Banner above every dashboard page, such as the hints of the demo. */
export interface Banner {
  text: string
  links: readonly { label: string; url: string }[]
  /** Hides the banner and returns to the page. */
  dismiss_url: string
}
