/** A switch, or a flag with a value. `value` is its placeholder in the help. */
export interface Flag {
  readonly value?: string
  readonly text: string
  /** All allowed values, if there is a fixed set. The shell completes them. */
  readonly allowed?: readonly string[]
  /** True if the flag may occur several times. Its values are joined with line breaks. */
  readonly isRepeatable?: boolean
}

export type Flags = Readonly<Record<string, Flag>>

/** Parsed flags: switches are boolean, all other flags are text or undefined. */
export type ParsedFlags<F extends Flags> = {
  readonly [Name in keyof F]: F[Name] extends { value: string } ? string | undefined : boolean
}

export interface Command<F extends Flags = Flags> {
  readonly name: string
  /** One line for the list of commands. */
  readonly summary: string
  /** Details for the help of the command. */
  readonly text?: string
  readonly examples?: readonly string[]
  /** The positional argument, if the command accepts one. */
  readonly argument?: {
    readonly name: string
    readonly text: string
    readonly isRequired?: boolean
    readonly allowed?: readonly string[]
  }
  readonly flags: F
  /** Reason why the command has no `--json`. Every other command has the flag. */
  readonly withoutJson?: string
  /** Runs the command and returns the exit code. Throws on failure. */
  run(flags: ParsedFlags<F>, argument?: string): Promise<number>
}

export function defineCommand<const F extends Flags>(command: Command<F>): Command<F> {
  return command
}

/** Flags of every command that uses the tracker's configuration. */
export const COMMON_FLAGS = {
  database: { value: 'URL', text: 'sqlite:FILE, postgres://… or mysql://…; overrides the file and the environment' },
  config: { value: 'FILE', text: 'Configuration file (default: faultboard.config.{ts,js,mjs} in this folder)' },
  'application-name': { value: 'NAME', text: 'Name of the application that the errors belong to' },
} as const satisfies Flags

export type CommonFlags = ParsedFlags<typeof COMMON_FLAGS>

export const EXIT_CODES = {
  0: 'done',
  1: 'failed',
  2: 'invalid usage or configuration',
  3: 'the database schema is outdated',
} as const

/** A failure of the CLI itself, such as a port in use. Its message includes the next step. */
export class CommandFailed extends Error {
  readonly exit_code = 1
}
