import { readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, relative } from 'node:path'
import { run } from '../services/command.mjs'

const SKIP_REASON = /\(skipped: ([^)]*)\)/
/** Placeholder for the file name of an error outside of any test file. Such an error is never retried. */
const OUTSIDE_TEST_FILES = 'vitest'
/** Maximum number of failed files to retry. More failures indicate a defect, not a busy machine. */
const MAX_RETRIED_FILES = 2
const MAX_SLOWEST_TESTS = 20

/**
 * Runs one pass of vitest. Returns the counts of `total`: passed tests, failures with file, name and first line,
 * skipped tests per reason, and the duration of each test. A background pass prints its output when it has ended.
 */
export async function runVitest(args, { env, name = 'main', background = false }) {
  const reportFile = join(tmpdir(), `vitest-${name}.json`)
  const unhandledFile = join(tmpdir(), `vitest-${name}-unhandled.json`)
  // Removes the report of an earlier pass, in case this pass writes none.
  for (const file of [reportFile, unhandledFile]) await rm(file, { force: true })
  const reporters = ['default', 'json', './scripts/test/unhandled-errors.mjs'].map(
    (reporter) => `--reporter=${reporter}`,
  )
  const { ok, output } = await run(
    'node_modules/.bin/vitest',
    ['run', ...reporters, `--outputFile.json=${reportFile}`, ...args],
    { show: !background, env: { ...env, FAULTBOARD_TEST_UNHANDLED_ERRORS: unhandledFile } },
  )
  if (background) console.log(output)
  const counts = total((await readJson(reportFile))?.testResults.map(countFile) ?? [])
  const unhandled = (await readJson(unhandledFile)) ?? ['vitest wrote no report']
  counts.failures.push(...unhandled.map((message) => failure(OUTSIDE_TEST_FILES, 'error outside of any test', message)))
  if (!ok && counts.failures.length === 0) counts.failures.push(failure(OUTSIDE_TEST_FILES, 'no tests found'))
  return counts
}

function readJson(file) {
  return readFile(file, 'utf8').then(JSON.parse, () => null)
}

/** Returns the failed files if they are few enough for a retry, else none. */
export function filesToRetry(failures) {
  const files = [...new Set(failures.map((failure) => failure.file))]
  return files.length <= MAX_RETRIED_FILES && !files.includes(OUTSIDE_TEST_FILES) ? files : []
}

/** Returns one line per retried file for the summary at the end of the run. */
export function retryLines(files, failures, retryFailures) {
  return files.flatMap((file) => {
    const result = retryFailures.some((failure) => failure.file === file) ? 'failed again' : 'passed'
    const failed = failures.filter((failure) => failure.file === file)
    return [
      `retried: ${file} (${result})`,
      ...failed.map((failure) => `  failed at first: ${describeFailure(failure)}`),
    ]
  })
}

export function describeFailure({ file, name, reason }) {
  return `${file} > ${name}${reason && ` (${reason})`}`
}

/** Returns the heading and one line per test, slowest first. */
export function slowestLines(tests) {
  const slowest = tests.toSorted((a, b) => b.seconds - a.seconds).slice(0, MAX_SLOWEST_TESTS)
  if (slowest.length === 0) return []
  const lines = slowest.map(({ file, name, seconds }) => `${seconds.toFixed(1).padStart(7)} s  ${file} > ${name}`)
  return [`slowest ${slowest.length} tests:`, ...lines]
}

export function total(all) {
  const sum = { passed: 0, failures: [], skipped: new Map(), tests: [], files: new Map() }
  for (const counts of all) {
    sum.passed += counts.passed
    sum.failures.push(...counts.failures)
    sum.tests.push(...counts.tests)
    for (const [reason, amount] of counts.skipped) increase(sum.skipped, reason, amount)
    for (const [file, fileCounts] of counts.files ?? [[counts.file, counts]]) sum.files.set(file, fileCounts)
  }
  return sum
}

/** Counts the report of one file in the format of vitest's JSON reporter. */
export function countFile({ name, status, message, assertionResults }) {
  const file = relative(process.cwd(), name)
  const counts = { file, passed: 0, failures: [], skipped: new Map(), tests: [] }
  for (const test of assertionResults) {
    if (test.duration) counts.tests.push({ file, name: test.fullName, seconds: test.duration / 1000 })
    if (test.status === 'passed') counts.passed++
    else if (test.status === 'failed') counts.failures.push(failure(file, test.fullName, test.failureMessages[0]))
    else increase(counts.skipped, SKIP_REASON.exec(test.fullName)?.[1] ?? 'by a filter, or no reason in the title')
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
