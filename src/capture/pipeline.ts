import type { ErrorEvent } from '../model/event.js'
import type { Draft, DropReason, Step, StepContext } from './draft.js'
import { beforeLog } from './steps/before-log.js'
import { grade } from './steps/grade.js'
import { ignore } from './steps/ignore.js'
import { redact } from './steps/redact.js'
import { sample } from './steps/sample.js'
import { sign } from './steps/sign.js'

/** The way of every error, however it came in. The order is the meaning. */
const STEPS: readonly Step[] = [ignore, grade, beforeLog, sample, sign, redact]

/** The event to record, or the reason why there is none. */
export function runPipeline(draft: Draft, context: StepContext): { event: ErrorEvent } | { dropped: DropReason } {
  for (const step of STEPS) {
    const dropped = step(draft, context)
    if (dropped) return { dropped }
  }
  return { event: eventOf(draft) }
}

function eventOf(draft: Draft): ErrorEvent {
  const {
    thrown: _thrown,
    request_params,
    context,
    details,
    explicit_severity: _severity,
    unhandled: _unhandled,
    ...event
  } = draft
  return {
    ...event,
    context: {
      ...details,
      ...(request_params === undefined ? {} : { request_params }),
      ...(context === undefined ? {} : { context }),
    },
  }
}
