import { type Command, EXIT_CODES, type Flags } from './command.js'
import { colorize } from './io/colors.js'

/** Output of `faultboard --help`. */
export function overviewHelp(commands: readonly Command[]): string {
  return [
    'Faultboard is a self-hosted error tracker for Node.js applications.',
    '',
    `${heading('Usage:')} faultboard COMMAND [flags]`,
    '',
    heading('Commands:'),
    ...alignColumns(commands.map(({ name, summary }) => [name, summary])),
    '',
    'faultboard help COMMAND, or faultboard COMMAND --help, lists the flags of a command.',
    'faultboard --version prints the version.',
    '',
    'Configuration: faultboard.config.{ts,js,mjs} in this folder, whose default export is an object with',
    'options or a function (config) => void that sets them; then the environment: FAULTBOARD_ and the name',
    'of the option in capitals (FAULTBOARD_DATABASE). The file overrides the environment, a flag overrides both.',
    'FAULTBOARD_DEBUG=1 prints the stack of unexpected errors.',
    '',
    ...exitCodes(),
  ].join('\n')
}

/** Output of `faultboard GROUP --help`, for commands whose name has two words. */
export function groupHelp(group: string, commands: readonly Command[]): string {
  return [
    `${heading('Usage:')} faultboard ${group} COMMAND [flags]`,
    '',
    heading('Commands:'),
    ...alignColumns(commands.map(({ name, summary }) => [name, summary])),
    '',
    `faultboard help ${commands[0]?.name} lists the flags of a command.`,
  ].join('\n')
}

/** Output of `faultboard COMMAND --help`. */
export function commandHelp({ name, summary, text, examples = [], flags, argument }: Command): string {
  return [
    summary,
    ...(text ? ['', text] : []),
    '',
    `${heading('Usage:')} faultboard ${name}${argument ? ` ${argument.isRequired ? argument.name : `[${argument.name}]`}` : ''} [flags]`,
    '',
    ...(argument ? alignColumns([[argument.name, argument.text]]).concat('') : []),
    heading('Flags:'),
    ...alignColumns([...flagRows(flags), ['--help', 'Show this help']]),
    ...(examples.length > 0 ? ['', heading('Examples:'), ...examples.map((example) => `  ${example}`)] : []),
    '',
    ...exitCodes(),
  ].join('\n')
}

function heading(text: string): string {
  return colorize('bold', text)
}

function flagRows(flags: Flags): [string, string][] {
  return Object.entries(flags).map(([name, { value, text }]) => [value ? `--${name} ${value}` : `--${name}`, text])
}

function exitCodes(): string[] {
  return [heading('Exit codes:'), ...alignColumns(Object.entries(EXIT_CODES))]
}

function alignColumns(rows: readonly (readonly [string, string])[]): string[] {
  const width = Math.max(...rows.map(([left]) => left.length))
  return rows.map(([left, right]) => `  ${left.padEnd(width)}  ${right}`)
}
