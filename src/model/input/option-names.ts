import { ConfigurationError } from '../errors.js'
import { didYouMean } from '../text.js'
import { type AnyCase, acceptedNames, toCanonicalNames } from './spelling.js'

/**
 * Returns options of a function with names in snake_case. Throws a ConfigurationError that lists misspelled options and
 * options in both spellings.
 *
 * @example checkOptionNames<PinoOptions>({ recordAll: true }, { record_all: true }) // { record_all: true }
 */
export function checkOptionNames<T extends object>(given: AnyCase<T>, names: Record<keyof T, true>): T {
  const accepted = acceptedNames(Object.keys(names))
  const { fields, conflicts } = toCanonicalNames(given as T, accepted)
  const unknown = Object.keys(fields).filter((name) => !accepted.has(name))
  const problems = [...conflicts, ...unknown.map((name) => unknownOption(name, accepted.keys()))]
  if (problems.length > 0) throw new ConfigurationError(problems)
  return fields
}

/** Message for a misspelled option. The hint is used if no name is similar. */
export function unknownOption(name: string, names: Iterable<string>, hint = ''): string {
  return `${name} is not an option${didYouMean(name, names) || hint}`
}
