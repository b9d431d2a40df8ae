import { builtInSeverity, type GradedError } from './built-in-severity.js'
import { moreSevere, type Severity, type SeverityRule } from './severity.js'

export interface SeverityInput extends GradedError {
  /** What the caller asked for; wins over every rule. */
  explicit?: Severity | undefined
  /** Whether the error escaped every handler of the host: at least high. */
  unhandled?: boolean | undefined
  /** Whether the error made a request fail with a 5xx response: at least medium. */
  request_failed?: boolean | undefined
  rules: readonly SeverityRule[]
}

/** The two floors raise the built-in rules only: an explicit severity and the rules of the host are final. */
export function severityOf(question: SeverityInput): Severity {
  const { error_type, explicit, unhandled, request_failed, rules } = question
  if (explicit) return explicit
  const custom = rules.find(([pattern]) => matches(pattern, error_type))
  if (custom) return custom[1]
  const severity = builtInSeverity(question)
  if (unhandled) return moreSevere(severity, 'high')
  return request_failed ? moreSevere(severity, 'medium') : severity
}

/** A host's pattern may carry the g or y flag, whose `lastIndex` would make every second match fail. */
function matches(pattern: RegExp, text: string): boolean {
  pattern.lastIndex = 0
  return pattern.test(text)
}
