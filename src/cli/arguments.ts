import { parseArgs } from 'node:util'
import { TrackerError } from '../model/errors.js'
import { nearest } from '../model/text.js'
import type { Command, Flags, Given } from './command.js'

/** Parses the flags of a command. Throws one message for a wrong flag. */
export function readFlags<F extends Flags>({ name, flags, argument }: Command<F>, args: readonly string[]): Given<F> {
  const given: Record<string, string | boolean | undefined> = {}
  for (const [flag, { value }] of Object.entries(flags)) given[flag] = value ? undefined : false
  for (const token of tokensOf(flags, args)) {
    if (token.kind === 'option-terminator') continue
    if (token.kind === 'positional') {
      if (argument) continue
      throw wrongUse(`faultboard ${name} takes flags only, not "${token.value}"`)
    }
    given[token.name] = flagValue(name, flags, token)
  }
  return given as Given<F>
}

/** Reads the positional argument. */
export function readArgument({ name, flags, argument }: Command, args: readonly string[]): string | undefined {
  if (!argument) return undefined
  const said = tokensOf(flags, args).filter((token) => token.kind === 'positional')
  if (said.length > 1) {
    throw wrongUse(
      `faultboard ${name} takes one ${argument.name}, not ${said.length}: quote an argument with several words`,
    )
  }
  return said[0]?.value
}

export function wrongUse(sentence: string): TrackerError {
  return new TrackerError('invalid_input', sentence)
}

/** Returns `; did you mean x?`, or an empty string if no known word is close. */
export function didYouMean(word: string, known: Iterable<string>): string {
  const meant = nearest(word, known)
  return meant ? `; did you mean ${meant}?` : ''
}

interface FlagToken {
  name: string
  rawName: string
  value: string | undefined
  inlineValue: boolean | undefined
}

/** Not strict: the messages of Node.js include neither the command nor the closest flag. */
function tokensOf(flags: Flags, args: readonly string[]) {
  const options = Object.fromEntries(
    Object.entries(flags).map(([name, { value }]) => [
      name,
      { type: value ? ('string' as const) : ('boolean' as const) },
    ]),
  )
  return parseArgs({ args: [...args], options, strict: false, allowPositionals: true, tokens: true }).tokens
}

function flagValue(command: string, flags: Flags, { name, rawName, value, inlineValue }: FlagToken): string | true {
  const flag = Object.hasOwn(flags, name) ? flags[name] : undefined
  if (!flag) {
    const known = Object.keys(flags).map((one) => `--${one}`)
    throw wrongUse(`${rawName} is not a flag of faultboard ${command}${didYouMean(rawName, known)}`)
  }
  if (!flag.value) {
    if (value !== undefined) throw wrongUse(`${rawName} does not take a value`)
    return true
  }
  // The next flag is rarely meant as the value. A value that starts with a dash is written as --flag=-x.
  if (value === undefined || (!inlineValue && value.startsWith('-'))) {
    throw wrongUse(`${rawName} needs a value: ${rawName} ${flag.value}`)
  }
  return value
}
