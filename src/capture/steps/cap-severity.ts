import { SEVERITIES } from '../../model/severity/severity.js'
import type { Step } from '../draft.js'

/** Limits the severity of client errors, because clients choose the level, type and code that determine it. */
export const capSeverity: Step = (draft, { config: { client_max_severity } }) => {
  if (draft.source === undefined) return
  if (SEVERITIES.indexOf(draft.severity) < SEVERITIES.indexOf(client_max_severity)) draft.severity = client_max_severity
}
