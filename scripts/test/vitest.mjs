import { readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { run } from '../services/command.mjs'

const REASON = /\(skipped: ([^)]*)\)/

/** Runs vitest on the terminal. Returns how many tests passed and failed, and how many were skipped for which reason. */
export async function runVitest(args, env) {
  const file = join(tmpdir(), 'vitest.json')
  // Or a run that writes none would be counted by that of the run before it.
  await rm(file, { force: true })
  const reporters = ['--reporter=default', '--reporter=json', `--outputFile.json=${file}`]
  const { ok } = await run('node_modules/.bin/vitest', ['run', ...reporters, ...args], { show: true, env })
  const report = await readFile(file, 'utf8').then(JSON.parse, () => ({ testResults: [] }))
  const counts = count(report.testResults)
  // An error outside of any test, or no test at all, still ends vitest with a failure.
  if (!ok && counts.failed === 0) counts.failed = 1
  return counts
}

function count(files) {
  const counts = { passed: 0, failed: 0, skipped: new Map() }
  for (const file of files) {
    const tests = file.assertionResults
    for (const test of tests) {
      if (test.status === 'passed') counts.passed++
      else if (test.status === 'failed') counts.failed++
      else increase(counts.skipped, REASON.exec(test.fullName)?.[1] ?? 'by a filter, or no reason in the title')
    }
    // A file that could not be loaded, or whose hooks failed, has no failed test to count.
    if (file.status === 'failed' && !tests.some((test) => test.status === 'failed')) counts.failed++
  }
  return counts
}

function increase(map, key) {
  map.set(key, (map.get(key) ?? 0) + 1)
}
