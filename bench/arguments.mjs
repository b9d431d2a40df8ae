import { parseArgs } from 'node:util'
import { SUITES } from './suites.mjs'

const DATABASES = ['sqlite', 'postgres', 'mysql']
/** Passes of --check and --accept. The spread of fewer passes often underestimates the noise. */
const CHECKED_PASSES = 5
const ON_DEMAND = Object.keys(SUITES).filter((name) => SUITES[name].onDemand)

export const USAGE = `npm run bench -- [SUITE ...] [OPTION ...]

Suites: ${Object.keys(SUITES).join(', ')}
Without a suite, all of them run, except ${ON_DEMAND.join(', ')}. With --check, all accepted suites run.

--quick           Shortens each suite.
--large           Includes 10 million occurrences in the suite pages.
--check           Compares with bench/accepted.json. The exit code is 1 on a regression.
--accept          Writes the results to bench/accepted.json.
--repeat N        Number of passes. Default: 1, or ${CHECKED_PASSES} with --check or --accept.
--databases LIST  Default: ${DATABASES.join()}
--json FILE       Also writes the results to this file.
--strict          The exit code is 1 if a target is missed.
--help            Prints this text.`

/**
 * Returns the suites to run with their modes, and the remaining options. --check repeats each suite in the mode in
 * which it was accepted. Throws an error whose message includes the next step.
 */
export function readArguments(words, accepted) {
  const { values, positionals } = parse(words)
  const { check, accept, quick, large, json, strict } = values
  const unknown = positionals.filter((name) => !Object.hasOwn(SUITES, name))
  if (unknown.length > 0)
    throw new Error(`Unknown suite ${unknown.join(', ')}. Suites: ${Object.keys(SUITES).join(', ')}`)
  if (check && accept) throw new Error('Use either --check or --accept. Check first, then accept the changes you want.')
  if (check && (quick || large))
    throw new Error('--check repeats the accepted run and its mode. Remove --quick and --large.')
  if (check && !accepted) throw new Error('bench/accepted.json is missing. Create it with npm run bench -- --accept.')
  const databases = values.databases.split(',')
  const unknownDatabases = databases.filter((name) => !DATABASES.includes(name))
  if (unknownDatabases.length > 0)
    throw new Error(`Unknown database ${unknownDatabases.join(', ')}. Databases: ${DATABASES.join(', ')}`)
  const repeat = Number(values.repeat ?? (check || accept ? CHECKED_PASSES : 1))
  if (!Number.isInteger(repeat) || repeat < 1) throw new Error('--repeat must be a positive integer.')
  if ((check || accept) && repeat < 2) throw new Error('Noise is measured by repetition. Use --repeat 2 or more.')
  const selected = check ? acceptedSuites(positionals, accepted) : positionals
  const defaultSuites = Object.keys(SUITES).filter((name) => !ON_DEMAND.includes(name))
  const suites = selected.length > 0 ? selected : defaultSuites
  const modeOf = (suite) => (check ? accepted.suites[suite] : { quick, large })
  return {
    ...{ check, accept, json, strict, repeat, databases },
    all_databases: DATABASES.every((name) => databases.includes(name)),
    modes: Object.fromEntries(
      suites.map((suite) => [suite, { quick: modeOf(suite).quick, large: modeOf(suite).large }]),
    ),
  }
}

function parse(words) {
  try {
    return parseArgs({
      args: words,
      allowPositionals: true,
      options: {
        quick: { type: 'boolean', default: false },
        large: { type: 'boolean', default: false },
        check: { type: 'boolean', default: false },
        accept: { type: 'boolean', default: false },
        repeat: { type: 'string' },
        databases: { type: 'string', default: DATABASES.join() },
        json: { type: 'string' },
        strict: { type: 'boolean', default: false },
      },
    })
  } catch (error) {
    // Keeps only the message of Node.js, because a stack does not help the user.
    throw new Error(`${error.message.split(/\.\s/)[0]}. List the options with npm run bench -- --help.`)
  }
}

function acceptedSuites(names, accepted) {
  const missing = names.filter((name) => !Object.hasOwn(accepted.suites, name))
  if (missing.length > 0) {
    const list = missing.join(' ')
    throw new Error(`No accepted results for ${list}. Create them with npm run bench -- ${list} --accept.`)
  }
  return names.length > 0 ? names : Object.keys(accepted.suites)
}
