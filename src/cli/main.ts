#!/usr/bin/env node
import { TrackerError } from '../model/errors.js'
import { didYouMean } from '../model/text.js'
import { VERSION } from '../model/version.js'
import { readArgument, readFlags, usageError } from './arguments.js'
import { type Command, CommandFailed } from './command.js'
import { COMMANDS, loadCommands } from './command-table.js'
import { commandHelp, groupHelp, overviewHelp } from './help.js'
import { exitWhenOutputCloses, finish, print, printError } from './io/terminal.js'

exitWhenOutputCloses()
void main(process.argv.slice(2)).then(finish)

/** The only catch of the CLI: turns an error into a message, a next step and an exit code. */
async function main(args: readonly string[]): Promise<number> {
  try {
    return await dispatch(args)
  } catch (error) {
    if (process.env.FAULTBOARD_DEBUG)
      printError(error instanceof Error ? (error.stack ?? error.message) : String(error))
    if (!(error instanceof TrackerError || error instanceof CommandFailed)) {
      const reason = error instanceof Error ? error.message : String(error)
      printError(`faultboard failed unexpectedly: ${reason}`, 'red')
      printError('Set FAULTBOARD_DEBUG=1 to see the stack.')
      return 1
    }
    printError(error.message, 'red')
    if (error instanceof TrackerError && error.code === 'invalid_input') printError(helpLine(args))
    return error.exit_code
  }
}

async function dispatch(args: readonly string[]): Promise<number> {
  const [name, ...rest] = joinCommandName(args)
  if (name === undefined || isHelp(name)) return help(joinCommandName(rest)[0])
  if (name === '--version' || name === '-v') return printAndSucceed(VERSION)
  if (name.startsWith('-'))
    throw usageError(`${name} is not a command. The command comes first: faultboard COMMAND [flags]`)
  if (rest.some((argument) => argument === '--help' || argument === '-h')) return help(name)
  const command = await loadCommand(name)
  return command.run(readFlags(command, rest), readArgument(command, rest))
}

async function help(name: string | undefined): Promise<number> {
  if (name === undefined || isHelp(name)) return printAndSucceed(overviewHelp(await loadCommands('')))
  const subcommands = await loadCommands(`${name} `)
  return printAndSucceed(subcommands.length > 0 ? groupHelp(name, subcommands) : commandHelp(await loadCommand(name)))
}

/** Some command names have two words. */
function joinCommandName([first = '', second = '', ...rest]: readonly string[]): string[] {
  const twoWords = `${first} ${second}`
  return Object.hasOwn(COMMANDS, twoWords)
    ? [twoWords, ...rest]
    : [first, second, ...rest].filter((word) => word !== '')
}

async function loadCommand(name: string): Promise<Command> {
  const load = Object.hasOwn(COMMANDS, name) ? COMMANDS[name] : undefined
  if (load) return load()
  const parts = Object.keys(COMMANDS).filter((commandName) => commandName.startsWith(`${name} `))
  if (parts.length > 0) throw usageError(`faultboard ${name} requires a subcommand: ${parts.join(', ')}`)
  throw usageError(`faultboard has no command "${name}"${didYouMean(name, Object.keys(COMMANDS))}`)
}

function helpLine(args: readonly string[]): string {
  const [name = ''] = joinCommandName(args)
  return Object.hasOwn(COMMANDS, name)
    ? `Run  faultboard ${name} --help  to see its flags.`
    : 'Run  faultboard --help  to see the commands.'
}

function isHelp(word: string): boolean {
  return word === 'help' || word === '--help' || word === '-h'
}

function printAndSucceed(text: string): number {
  print(text)
  return 0
}
