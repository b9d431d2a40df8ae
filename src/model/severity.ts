export const SEVERITIES = ['critical', 'high', 'medium', 'low'] as const
export type Severity = (typeof SEVERITIES)[number]

/** Ordered pairs of a pattern for the error type and the severity it gives; the first that matches wins. */
export type SeverityRule = readonly [pattern: RegExp, severity: Severity]

/** By the name of the type or the code of a system error. */
const BUILT_IN_RULES: readonly SeverityRule[] = [
  [/out_?of_?memory|^OOM|OOM(Error)?$|^ENOMEM$/i, 'critical'],
  [/^(ENOSPC|EROFS|EIO|EDQUOT|SQLITE_(FULL|IOERR|CORRUPT|CANTOPEN|NOTADB)(_\w+)?)$|Disk_?Full/i, 'critical'],
  [
    /(Database|Sequelize|Prisma|Mongo|Postgres|MySQL|MariaDb|Redis|Knex|TypeORM)\w*(Connection|Initialization|Network|ServerSelection|Lost|Unavailable)/i,
    'critical',
  ],
  // Connection exceptions and shutdowns of PostgreSQL, and MySQL's word for a server that went away.
  [/^(08\w{3}|57P0[123]|PROTOCOL_CONNECTION_LOST|ER_SERVER_SHUTDOWN)$/, 'critical'],
  [/^(Type|Reference|Range|Syntax|URI|Eval)Error$|^AssertionError/, 'high'],
  [
    /Time_?out|Timed_?Out|Abort|Connection_?(Refused|Reset|Closed)|ECONN(REFUSED|RESET)|EPIPE|Validation|Invalid|ZodError|ValiError/i,
    'medium',
  ],
]

export function isSeverity(value: unknown): value is Severity {
  return (SEVERITIES as readonly unknown[]).includes(value)
}

export interface SeverityQuestion {
  error_type: string
  /** What the caller asked for; wins over every rule. */
  explicit?: Severity | undefined
  /** Whether the error escaped every handler of the host. */
  unhandled?: boolean | undefined
  /** System error code, such as ECONNREFUSED. */
  code?: string | undefined
  rules: readonly SeverityRule[]
}

export function severityOf({ error_type, explicit, unhandled, code, rules }: SeverityQuestion): Severity {
  if (explicit) return explicit
  const custom = rules.find(([pattern]) => matches(pattern, error_type))
  if (custom) return custom[1]
  const builtIn = BUILT_IN_RULES.find(
    ([pattern]) => pattern.test(error_type) || (code !== undefined && pattern.test(code)),
  )
  if (builtIn?.[1] === 'critical') return 'critical'
  if (unhandled) return 'high'
  return builtIn?.[1] ?? 'low'
}

/** A host's pattern may carry the g or y flag, whose `lastIndex` would make every second match fail. */
function matches(pattern: RegExp, text: string): boolean {
  pattern.lastIndex = 0
  return pattern.test(text)
}
