import { readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, relative } from 'node:path'
import { run } from '../services/command.mjs'

const REASON = /\(skipped: ([^)]*)\)/
/** In place of a file, for what happened in none: no second try would show that it is gone. */
const OUTSIDE = 'vitest'
// More than these are broken by the change, not by a busy machine.
const FILES_TRIED_AGAIN = 5

/**
 * Runs vitest on the terminal. Returns how many tests passed and failed, how many were skipped for which reason, and
 * the failures with their file, name and first line.
 */
export async function runVitest(args, env) {
  const file = join(tmpdir(), 'vitest.json')
  const unhandled_file = join(tmpdir(), 'vitest-unhandled.json')
  // Or a run that writes none would be counted by that of the run before it.
  for (const old of [file, unhandled_file]) await rm(old, { force: true })
  const reporters = ['default', 'json', './scripts/test/unhandled-errors.mjs'].map((name) => `--reporter=${name}`)
  const { ok } = await run('node_modules/.bin/vitest', ['run', ...reporters, `--outputFile.json=${file}`, ...args], {
    show: true,
    env: { ...env, FAULTBOARD_TEST_UNHANDLED_ERRORS: unhandled_file },
  })
  const counts = total((await jsonIn(file))?.testResults.map(countFile) ?? [])
  const unhandled = (await jsonIn(unhandled_file)) ?? ['it wrote no report']
  counts.failures.push(...unhandled.map((message) => failure(OUTSIDE, 'an error outside of any test', message)))
  if (!ok && counts.failures.length === 0) counts.failures.push(failure(OUTSIDE, 'no test was found'))
  return counts
}

function jsonIn(file) {
  return readFile(file, 'utf8').then(JSON.parse, () => null)
}

/** The files of failures, where few enough failed that it may be the machine's doing. */
export function filesToTryAgain(failures) {
  const files = [...new Set(failures.map((failure) => failure.file))]
  return files.length <= FILES_TRIED_AGAIN && !files.includes(OUTSIDE) ? files : []
}

export function total(all) {
  const sum = { passed: 0, failures: [], skipped: new Map(), files: new Map() }
  for (const counts of all) {
    sum.passed += counts.passed
    sum.failures.push(...counts.failures)
    for (const [reason, amount] of counts.skipped) increase(sum.skipped, reason, amount)
    for (const [file, ofFile] of counts.files ?? [[counts.file, counts]]) sum.files.set(file, ofFile)
  }
  return sum
}

function countFile({ name, status, message, assertionResults }) {
  const file = relative(process.cwd(), name)
  const counts = { file, passed: 0, failures: [], skipped: new Map() }
  for (const test of assertionResults) {
    if (test.status === 'passed') counts.passed++
    else if (test.status === 'failed') counts.failures.push(failure(file, test.fullName, test.failureMessages[0]))
    else increase(counts.skipped, REASON.exec(test.fullName)?.[1] ?? 'by a filter, or no reason in the title')
  }
  // A file that could not be loaded, or whose hooks failed, has no failed test to count.
  if (status === 'failed' && counts.failures.length === 0)
    counts.failures.push(failure(file, 'the whole file', message))
  return counts
}

function failure(file, name, message = '') {
  return { file, name, reason: message.trim().split('\n', 1)[0].slice(0, 300) }
}

function increase(map, key, amount = 1) {
  map.set(key, (map.get(key) ?? 0) + amount)
}
