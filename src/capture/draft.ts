import type { Options } from '../config/options.js'
import type { Cause, ClientSource } from '../model/event.js'
import type { Redactor } from '../model/redaction/redaction.js'
import type { Severity } from '../model/severity.js'
import type { FrameSource } from '../model/stacks/frame-source.js'
import type { FrameVariables } from '../model/stacks/frame-variables.js'
import type { SystemHealth } from '../model/system-health.js'
import type { RecordedBreadcrumb } from './breadcrumbs/breadcrumbs.js'
import type { LagGuard } from './guards/lag.js'
import type { MessageFloods } from './guards/message-floods.js'
import type { Storms } from './guards/storms.js'
import type { SourceLines } from './source-maps/source-lines.js'

/** An error on its way through the pipeline. Steps fill it; none of them keeps a live object of the host but `thrown`. */
export interface Draft {
  /** The thrown value itself, for the host's own callbacks. */
  thrown: unknown
  error_type: string
  message: string
  backtrace: readonly string[]
  causes: readonly Cause[]
  platform: string
  app_version: string | null
  git_sha: string | null
  user_id: string | null
  request_url: string | null
  request_params: unknown
  ip_address: string | null
  user_agent: string | null
  /** Method, route, headers and the like, as the host's framework gave them. */
  request: unknown
  tags: readonly unknown[]
  details: Readonly<Record<string, unknown>>
  /** What was given with the error, and before it what its scope knows. */
  context: readonly unknown[]
  breadcrumbs: readonly RecordedBreadcrumb[] | null
  /** What a client sent of the source around its frames. */
  frame_sources?: readonly FrameSource[] | null
  /** Plain, bounded and redacted when they were read. */
  local_variables: readonly FrameVariables[] | null
  /** Numbers only. */
  system_health: SystemHealth | null
  /** The same for every error of this process, and so not filtered each time; null for one of another. */
  process_facts: Readonly<Record<string, unknown>> | null
  occurred_at: number
  explicit_severity: Severity | undefined
  unhandled: boolean
  /** Whether it made its request fail with a 5xx response. */
  request_failed: boolean
  severity: Severity
  /** What a client groups it by; `{{ default }}` among its parts stands for our own way. */
  fingerprint?: readonly string[] | null
  hash_signature: string
  /** The endpoint that received it; absent for errors of the server itself. */
  source?: ClientSource | undefined
  /** What a client numbered it by. */
  event_digest?: string | undefined
  place: string | null
  /** The place as it is part of the signature, for the explanation of the grouping. */
  signature_place?: readonly string[]
  /** Counted like any other, but without a row of its own. */
  counted_only: boolean
}

/** Hooks that add data to a signed draft. */
interface SignedHooks {
  readonly onSigned: readonly { readonly name: string; run(draft: Draft): void }[]
}

/** Dependencies of the steps. */
export interface StepContext {
  config: Options
  redactor: Redactor
  storms: Storms
  floods: MessageFloods
  source_lines: SourceLines
  lag: LagGuard
  hooks: SignedHooks
  now(): number
  random(): number
  /** Counts what was left out, and why. */
  count(reason: string): void
  /** Says once what a callback of the host did wrong. */
  complain(what: string, error: unknown): void
}

/** Changes the draft in place, or gives the reason why the error is not recorded. */
export type Step = (draft: Draft, context: StepContext) => DropReason | undefined

export type DropReason = 'ignored' | 'skipped_by_callback' | 'sampled_out'
