import { parseArgs } from 'node:util'
import { TrackerError } from '../model/errors.js'
import { didYouMean } from '../model/text.js'
import type { Command, Flags, ParsedFlags } from './command.js'

/** Parses the flags of a command. Throws one message for an invalid flag. */
export function readFlags<F extends Flags>(command: Command<F>, args: readonly string[]): ParsedFlags<F> {
  const { name, flags, argument } = command
  const values: Record<string, string | boolean | undefined> = {}
  for (const [flag, { value }] of Object.entries(flags)) values[flag] = value ? undefined : false
  for (const token of parseTokens(flags, args)) {
    if (token.kind === 'option-terminator') continue
    if (token.kind === 'positional') {
      if (argument) continue
      throw usageError(`faultboard ${name} takes flags only, not "${token.value}"`)
    }
    const value = flagValue(command, token)
    const before = values[token.name]
    if (typeof before !== 'string') values[token.name] = value
    else if (flags[token.name]?.isRepeatable) values[token.name] = `${before}\n${value}`
    else throw usageError(`${token.rawName} can be used only once`)
  }
  return values as ParsedFlags<F>
}

/** Reads the positional argument. */
export function readArgument({ name, flags, argument }: Command, args: readonly string[]): string | undefined {
  if (!argument) return undefined
  const positionals = parseTokens(flags, args).filter((token) => token.kind === 'positional')
  if (positionals.length > 1) {
    throw usageError(
      `faultboard ${name} takes one ${argument.name}, not ${positionals.length}: quote an argument with several words`,
    )
  }
  return positionals[0]?.value
}

export function usageError(message: string): TrackerError {
  return new TrackerError('invalid_input', message)
}

interface FlagToken {
  name: string
  rawName: string
  value: string | undefined
  inlineValue: boolean | undefined
}

/** Not strict: the messages of Node.js include neither the command nor the closest flag. */
function parseTokens(flags: Flags, args: readonly string[]) {
  const options = Object.fromEntries(
    Object.entries(flags).map(([name, { value }]) => [
      name,
      { type: value ? ('string' as const) : ('boolean' as const) },
    ]),
  )
  return parseArgs({ args: [...args], options, strict: false, allowPositionals: true, tokens: true }).tokens
}

type Usage = Pick<Command, 'name' | 'flags' | 'withoutJson'>

function flagValue(command: Usage, { name, rawName, value, inlineValue }: FlagToken): string | true {
  const { flags, withoutJson } = command
  const flag = Object.hasOwn(flags, name) ? flags[name] : undefined
  if (!flag) {
    const known = Object.keys(flags).map((flagName) => `--${flagName}`)
    const hint = name === 'json' && withoutJson ? `. ${withoutJson}` : didYouMean(rawName, known)
    throw usageError(`${rawName} is not a flag of faultboard ${command.name}${hint}`)
  }
  if (!flag.value) {
    if (value !== undefined) throw usageError(`${rawName} does not take a value`)
    return true
  }
  // An unset variable, as in --severity=$SEVERITY, must not remove a filter.
  if (!value) throw usageError(`${rawName} needs a value: ${rawName} ${flag.value}`)
  // The next flag is rarely meant as the value.
  if (!inlineValue && value.startsWith('-')) {
    throw usageError(
      `${rawName} needs a value: ${rawName} ${flag.value}. A value that starts with a dash is written as ${rawName}=${value}`,
    )
  }
  return value
}
