/** A switch, or with `value` a flag that takes one; `value` is the word that stands for it in the help. */
export interface Flag {
  readonly value?: string
  readonly text: string
}

export type Flags = Readonly<Record<string, Flag>>

/** What was given on the command line: switches are true or false, the others text or undefined. */
export type Given<F extends Flags> = {
  readonly [Name in keyof F]: F[Name] extends { value: string } ? string | undefined : boolean
}

export interface Command<F extends Flags = Flags> {
  readonly name: string
  /** One line for the list of commands. */
  readonly summary: string
  /** What else a newcomer wants to know, for the command's own help. */
  readonly text?: string
  readonly examples?: readonly string[]
  /** What may be said without a flag, once. */
  readonly argument?: { readonly name: string; readonly text: string; readonly is_required?: boolean }
  readonly flags: F
  /** Does the work and gives the exit code; what goes wrong is thrown. */
  run(flags: Given<F>, argument?: string): Promise<number>
}

export function defineCommand<const F extends Flags>(command: Command<F>): Command<F> {
  return command
}

/** Flags of every command that touches the tracker's configuration. */
export const COMMON_FLAGS = {
  database: { value: 'URL', text: 'sqlite:FILE, postgres://… or mysql://…; wins over the file and the environment' },
  config: { value: 'FILE', text: 'Configuration file; left out: faultboard.config.{ts,js,mjs} in this folder' },
  'application-name': { value: 'NAME', text: 'Name of the application the errors belong to' },
} as const satisfies Flags

export type CommonFlags = Given<typeof COMMON_FLAGS>

export const EXIT_CODES = {
  0: 'done',
  1: 'failed',
  2: 'wrong use or configuration',
  3: 'the schema of the database is outdated',
} as const

/** A failure of the command line itself, such as a port that is taken; its message names the next step. */
export class CommandFailed extends Error {
  readonly exit_code = 1
}
