export const SEVERITIES = ['critical', 'high', 'medium', 'low'] as const
export type Severity = (typeof SEVERITIES)[number]

/** Ordered pairs of a pattern for the error type and a severity. The first match wins. */
export type SeverityRule = readonly [pattern: RegExp, severity: Severity]

export function isSeverity(value: unknown): value is Severity {
  return (SEVERITIES as readonly unknown[]).includes(value)
}

/** Returns the more severe of two severities. */
export function moreSevere(a: Severity, b: Severity): Severity {
  return SEVERITIES.indexOf(a) <= SEVERITIES.indexOf(b) ? a : b
}
