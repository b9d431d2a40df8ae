import { severityOf } from '../../model/severity.js'
import type { Step } from '../draft.js'

/** Sets the severity of the draft. */
export const grade: Step = (draft, { config }) => {
  const { error_type, message, backtrace, causes, details, unhandled, request_failed } = draft
  draft.severity = severityOf({
    ...{ error_type, message, backtrace, causes, unhandled, request_failed },
    explicit: draft.explicit_severity,
    code: typeof details.code === 'string' ? details.code : undefined,
    fatal: details.fatal === true,
    rules: config.custom_severity_rules,
  })
}
