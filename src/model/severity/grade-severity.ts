import { builtInSeverity, type GradedError } from './built-in-severity.js'
import { moreSevere, type Severity, type SeverityRule } from './severity.js'

export interface SeverityInput extends GradedError {
  /** Severity requested by the caller; overrides every rule. */
  explicit?: Severity | undefined
  /** True if the error escaped every handler of the host, which raises it to at least high. */
  unhandled?: boolean | undefined
  /** True if the error caused a 5xx response, which raises it to at least medium. */
  request_failed?: boolean | undefined
  rules: readonly SeverityRule[]
}

/** The two minimums only affect the built-in rules: an explicit severity and the host's rules are final. */
export function gradeSeverity(input: SeverityInput): Severity {
  const { error_type, explicit, unhandled, request_failed, rules } = input
  if (explicit) return explicit
  const customRule = rules.find(([pattern]) => matchesPattern(pattern, error_type))
  if (customRule) return customRule[1]
  const severity = builtInSeverity(input)
  if (unhandled) return moreSevere(severity, 'high')
  return request_failed ? moreSevere(severity, 'medium') : severity
}

/** A pattern with the g or y flag keeps its `lastIndex`, so every second match would fail. */
function matchesPattern(pattern: RegExp, text: string): boolean {
  pattern.lastIndex = 0
  return pattern.test(text)
}
