import type { ErrorEvent } from '../model/event.js'
import type { Draft, DropReason, Step, StepContext } from './draft.js'
import { addHookData } from './steps/add-hook-data.js'
import { beforeLog } from './steps/before-log.js'
import { capSeverity } from './steps/cap-severity.js'
import { grade } from './steps/grade.js'
import { ignore } from './steps/ignore.js'
import { protect } from './steps/protect.js'
import { redactDetails, redactTexts } from './steps/redact.js'
import { sample } from './steps/sample.js'
import { sign } from './steps/sign.js'

/**
 * Steps of every capture path, in order. The signature is computed from redacted strings. Details are redacted last,
 * because `protect` drops details that are not stored.
 */
const STEPS: readonly Step[] = [
  ...[ignore, grade, capSeverity, beforeLog, sample],
  ...[redactTexts, sign],
  ...[protect, addHookData, redactDetails],
]

/** Returns the event to record, or the reason why it was dropped. */
export function runPipeline(draft: Draft, context: StepContext): { event: ErrorEvent } | { dropped: DropReason } {
  for (const step of STEPS) {
    const dropped = step(draft, context)
    if (dropped) return { dropped }
  }
  return { event: toEvent(draft) }
}

/** Assigns fields one by one, because spreading such a large object takes a significant part of the capture time. */
function toEvent(draft: Draft): ErrorEvent {
  const context: Record<string, unknown> = { ...draft.details }
  if (draft.process_facts !== null) context.process = draft.process_facts
  if (draft.request_params !== undefined) context.request_params = draft.request_params
  if (draft.request !== undefined) context.request = draft.request
  if (draft.tags.length > 0) context.tags = draft.tags[0]
  if (draft.context.length > 0) context.context = draft.context[0]
  if (draft.breadcrumbs !== null) context.breadcrumbs = draft.breadcrumbs
  if (draft.system_health !== null) context.system_health = draft.system_health
  if (draft.frame_sources) context.frame_sources = draft.frame_sources
  if (draft.local_variables !== null) context.local_variables = draft.local_variables
  const event: ErrorEvent = {
    hash_signature: draft.hash_signature,
    environment: draft.environment,
    error_type: draft.error_type,
    message: draft.message,
    severity: draft.severity,
    place: draft.place,
    backtrace: draft.backtrace,
    causes: draft.causes,
    platform: draft.platform,
    app_version: draft.app_version,
    git_sha: draft.git_sha,
    user_id: draft.user_id,
    request_url: draft.request_url,
    ip_address: draft.ip_address,
    user_agent: draft.user_agent,
    context,
    occurred_at: draft.occurred_at,
  }
  if (draft.signature_place !== undefined) event.signature_place = draft.signature_place
  if (draft.counted_only) event.counted_only = true
  if (draft.source !== undefined) event.source = draft.source
  if (draft.event_digest !== undefined) event.event_digest = draft.event_digest
  return event
}
