import type { Options } from '../config/options.js'
import type { Cause, ClientSource } from '../model/event.js'
import type { Redactor } from '../model/redaction/redaction.js'
import type { Severity } from '../model/severity/severity.js'
import type { FrameSource } from '../model/stacks/frame-source.js'
import type { FrameVariables } from '../model/stacks/frame-variables.js'
import type { SystemHealth } from '../model/system-health.js'
import type { RecordedBreadcrumb } from './breadcrumbs/breadcrumb.js'
import type { LagGuard } from './guards/lag.js'
import type { MessageFloods } from './guards/message-floods.js'
import type { Storms } from './guards/storms.js'
import type { SourceLines } from './source-maps/source-lines.js'

/** Error in the pipeline, completed step by step. `thrown` is the only live host object. */
export interface Draft {
  /** The thrown value, for the host's callbacks. */
  thrown: unknown
  error_type: string
  message: string
  backtrace: readonly string[]
  causes: readonly Cause[]
  platform: string
  environment: string
  app_version: string | null
  git_sha: string | null
  user_id: string | null
  request_url: string | null
  request_params: unknown
  ip_address: string | null
  user_agent: string | null
  /** Method, route, headers and so on, as provided by the framework. */
  request: unknown
  tags: readonly unknown[]
  details: Readonly<Record<string, unknown>>
  /** Context of the scope, followed by the context passed with the error. */
  context: readonly unknown[]
  breadcrumbs: readonly RecordedBreadcrumb[] | null
  /** Source lines around the frames, as sent by a client. */
  frame_sources?: readonly FrameSource[] | null
  /** Already plain, bounded and redacted. */
  local_variables: readonly FrameVariables[] | null
  /** Contains only numbers. */
  system_health: SystemHealth | null
  /** Constant per process, so not redacted each time; null for errors from other processes. */
  process_facts: Readonly<Record<string, unknown>> | null
  occurred_at: number
  explicit_severity: Severity | undefined
  unhandled: boolean
  /** True if the error caused a 5xx response. */
  request_failed: boolean
  severity: Severity
  /** Grouping fingerprint sent by the client. A part `{{ default }}` represents the built-in grouping. */
  fingerprint?: readonly string[] | null
  hash_signature: string
  /** Endpoint that received the error; absent for errors of the server itself. */
  source?: ClientSource | undefined
  /** Digest of the client's event id. */
  event_digest?: string | undefined
  place: string | null
  /** The location as used in the signature, to explain the grouping. */
  signature_place?: readonly string[]
  /** True if the occurrence is counted without a row of its own. */
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
  sourceLines: SourceLines
  lag: LagGuard
  hooks: SignedHooks
  now(): number
  random(): number
  /** Counts a drop or a fallback by reason. */
  count(reason: string): void
  /** Counts and logs a failure of a host callback. */
  reportFailure(task: string, error: unknown): void
}

/** Modifies the draft in place, or returns the reason for dropping the error. */
export type Step = (draft: Draft, context: StepContext) => DropReason | undefined

export type DropReason = 'ignored' | 'skipped_by_callback' | 'sampled_out'
