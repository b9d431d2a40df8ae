/**
 * Errors that Faultboard throws to the operator, with the HTTP status on the dashboard and the exit code of the CLI.
 */
const ERROR_TABLE = {
  invalid_input: { status: 422, exit: 2 },
  unauthenticated: { status: 401, exit: 1 },
  forbidden_origin: { status: 403, exit: 1 },
  forbidden_role: { status: 403, exit: 1 },
  not_found: { status: 404, exit: 1 },
  switched_off: { status: 404, exit: 1 },
  not_possible_now: { status: 409, exit: 1 },
  too_large: { status: 413, exit: 2 },
  rate_limited: { status: 429, exit: 1 },
  configuration_invalid: { status: 500, exit: 2 },
  driver_missing: { status: 500, exit: 1 },
  schema_outdated: { status: 503, exit: 3 },
  database_unavailable: { status: 503, exit: 1 },
  shut_down: { status: 503, exit: 1 },
  too_many_streams: { status: 503, exit: 1 },
} as const

export type ErrorCode = keyof typeof ERROR_TABLE

/** An error for the operator of Faultboard. Its message states the cause and the next step. */
export class TrackerError extends Error {
  readonly code: ErrorCode

  constructor(code: ErrorCode, message: string, options?: ErrorOptions) {
    super(message, options)
    this.name = 'TrackerError'
    this.code = code
  }

  get status(): number {
    return ERROR_TABLE[this.code].status
  }

  get exit_code(): number {
    return ERROR_TABLE[this.code].exit
  }
}

/** Collects all configuration problems, so that they can be fixed together. */
export class ConfigurationError extends TrackerError {
  readonly problems: readonly string[]

  constructor(problems: readonly string[]) {
    super(
      'configuration_invalid',
      `Faultboard is not configured correctly:\n${problems.map((problem) => `  - ${problem}`).join('\n')}`,
    )
    this.name = 'ConfigurationError'
    this.problems = problems
  }
}

export function errorNotFound(errorId: number): TrackerError {
  return new TrackerError(
    'not_found',
    `No error with id ${errorId}. It may have been deleted, or belong to another application or environment.`,
  )
}

/** Describes a failure. Node.js leaves the message empty when all addresses of a host refuse the connection. */
export function failureMessage(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  return error.message || String((error as NodeJS.ErrnoException).code ?? error.name)
}
