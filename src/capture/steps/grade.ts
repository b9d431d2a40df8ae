import { severityOf } from '../../model/severity.js'
import type { Step } from '../draft.js'

/** Gives the draft its severity. */
export const grade: Step = (draft, { config }) => {
  draft.severity = severityOf({
    error_type: draft.error_type,
    explicit: draft.explicit_severity,
    unhandled: draft.unhandled,
    code: typeof draft.details.code === 'string' ? draft.details.code : undefined,
    rules: config.custom_severity_rules,
  })
}
