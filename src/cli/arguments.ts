import { parseArgs } from 'node:util'
import { TrackerError } from '../model/errors.js'
import { nearest } from '../model/text.js'
import type { Command, Flags, Given } from './command.js'

/** The flags of a command as they were given; what is wrong with them is told in one sentence. */
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

/** What was said without a flag. */
export function readArgument({ name, flags, argument }: Command, args: readonly string[]): string | undefined {
  if (!argument) return undefined
  const said = tokensOf(flags, args).filter((token) => token.kind === 'positional')
  if (said.length > 1) {
    throw wrongUse(
      `faultboard ${name} takes one ${argument.name}, not ${said.length}: put several words between quotation marks`,
    )
  }
  return said[0]?.value
}

export function wrongUse(sentence: string): TrackerError {
  return new TrackerError('invalid_input', sentence)
}

/** `; did you mean x?`, or nothing when no known word is near. */
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

/** Not strict: Node's own sentences for wrong flags know neither the command nor the nearest flag. */
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
    if (value !== undefined) throw wrongUse(`${rawName} is a switch and takes no value`)
    return true
  }
  // The next flag is hardly meant as the value of this one; a value that does begin with a dash is written --flag=-x.
  if (value === undefined || (!inlineValue && value.startsWith('-'))) {
    throw wrongUse(`${rawName} needs a value: ${rawName} ${flag.value}`)
  }
  return value
}
