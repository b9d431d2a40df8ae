import { usageError } from '../arguments.js'
import { type Command, defineCommand, type Flag } from '../command.js'
import { print } from '../io/terminal.js'

type Shell = (commands: readonly Command[]) => string

const SHELLS: Record<string, Shell> = { bash: bashScript, zsh: zshScript, fish: fishScript }

/** Creates the command that prints a script for a shell. The script contains all commands and their flags. */
export function completion(loadCommands: () => Promise<Command[]>): Command {
  return defineCommand({
    name: 'completion',
    summary: 'Print a shell completion script for commands and flags',
    text: 'Load the script when the shell starts, and again after an upgrade.',
    examples: [
      'source <(faultboard completion bash)',
      'source <(faultboard completion zsh)',
      'faultboard completion fish | source',
    ],
    argument: { name: 'SHELL', text: Object.keys(SHELLS).join(', '), isRequired: true, allowed: Object.keys(SHELLS) },
    withoutJson: 'It prints a script for a shell.',
    flags: {},
    async run(_, shell = '') {
      const script = Object.hasOwn(SHELLS, shell) ? SHELLS[shell] : undefined
      if (!script) throw usageError(unsupportedShell(shell))
      print(script(await loadCommands()))
      return 0
    },
  })
}

function unsupportedShell(shell: string): string {
  const problem = shell === '' ? 'The name of the shell is missing' : `"${shell}" is not a supported shell`
  return `${problem}: use ${Object.keys(SHELLS).join(', ')}`
}

/** Bash splits `--flag=value` into three words. Without words, it completes file names. */
function bashScript(commands: readonly Command[]): string {
  const groups = commandGroups(commands).map((group) => ({ group, words: subcommands(commands, group).join(' ') }))
  return `_faultboard() {
  local current="\${COMP_WORDS[COMP_CWORD]}" previous="\${COMP_WORDS[COMP_CWORD-1]}" name="\${COMP_WORDS[1]}" words=''
  if [ "$current" = '=' ]; then current=''; fi
  if [ "$previous" = '=' ]; then previous="\${COMP_WORDS[COMP_CWORD-2]}"; fi
  case "$name" in
    'help') words='${firstWords(commands).join(' ')}'; if [ "$COMP_CWORD" -gt 2 ]; then words=''; fi ;;
${groups.map(({ group, words }) => `    '${group}') name="$name \${COMP_WORDS[2]}"; words='${words}' ;;`).join('\n')}
  esac
  case "$name" in
${commands.map((command) => `    '${command.name}') words='${commandWords(command)}' ;;`).join('\n')}
  esac
  case "$name $current" in
    *' -'*) ;;
${commands
  .filter(hasFreeArgument)
  .map(({ name }) => `    '${name} '*) words='' ;;`)
  .join('\n')}
  esac
  case "$name $previous" in
${groups.map(({ group, words }) => `    'help ${group}') words='${words}' ;;`).join('\n')}
${commands.flatMap(bashValues).join('\n')}
  esac
  if [ "$COMP_CWORD" -eq 1 ]; then words='${firstWords(commands).join(' ')}'; fi
  COMPREPLY=($(compgen -W "$words" -- "$current"))
}
complete -o default -F _faultboard faultboard`
}

function bashValues({ name, flags }: Command): string[] {
  return Object.entries(flags).flatMap(([flag, { value, allowed = [] }]) =>
    value ? [`    '${name} --${flag}') words='${allowed.join(' ')}' ;;`] : [],
  )
}

function zshScript(commands: readonly Command[]): string {
  return `autoload -U +X compinit && compinit\nautoload -U +X bashcompinit && bashcompinit\n${bashScript(commands)}`
}

function fishScript(commands: readonly Command[]): string {
  const lines = firstWords(commands).map((word) => {
    const summary = commands.find(({ name }) => name === word)?.summary
    return `complete -c faultboard -f -n __fish_use_subcommand -a ${word}${description(summary)}`
  })
  const groupLines = commandGroups(commands).flatMap((group) =>
    subcommands(commands, group).map(
      (word) => `complete -c faultboard -f -n '__fish_seen_subcommand_from ${group}' -a ${word}`,
    ),
  )
  const argumentLines = commands.flatMap(({ name, argument }) =>
    argument?.allowed
      ? [`complete -c faultboard -f -n '__fish_seen_subcommand_from ${name}' -a '${argument.allowed.join(' ')}'`]
      : [],
  )
  const helpLine = `complete -c faultboard -f -n '__fish_seen_subcommand_from help' -a '${firstWords(commands).join(' ')}'`
  const flagLines = commands.flatMap(({ name, flags }) => {
    const condition = name
      .split(' ')
      .map((word) => `__fish_seen_subcommand_from ${word}`)
      .join('; and ')
    return Object.entries(flags).map(
      ([flag, { text, ...values }]) =>
        `complete -c faultboard -n '${condition}' -l ${flag}${fishValues(values)}${description(text)}`,
    )
  })
  return [...lines, helpLine, ...groupLines, ...argumentLines, ...flagLines].join('\n')
}

function fishValues({ value, allowed }: Omit<Flag, 'text'>): string {
  if (allowed) return ` -x -a '${allowed.join(' ')}'`
  return value ? ' -r' : ''
}

function description(text: string | undefined): string {
  return text === undefined ? '' : ` -d '${text.replace(/[\\']/g, '\\$&')}'`
}

function commandWords({ flags, argument }: Command): string {
  return [...(argument?.allowed ?? []), ...[...Object.keys(flags), 'help'].map((flag) => `--${flag}`)].join(' ')
}

/** Returns true if the argument is a file, a folder or free text. */
function hasFreeArgument({ argument }: Command): boolean {
  return argument !== undefined && argument.allowed === undefined
}

/** First words of commands with two words. */
function commandGroups(commands: readonly Command[]): string[] {
  return [...new Set(commands.flatMap(({ name }) => (name.includes(' ') ? [name.split(' ')[0] ?? ''] : [])))]
}

function subcommands(commands: readonly Command[], group: string): string[] {
  return commands.flatMap(({ name }) => (name.startsWith(`${group} `) ? [name.slice(group.length + 1)] : []))
}

function firstWords(commands: readonly Command[]): string[] {
  return [...new Set([...commands.map(({ name }) => name.split(' ')[0] ?? ''), 'help'])]
}
