import { chmodSync, existsSync, mkdirSync, mkdtempSync, writeFileSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { cleanUp, cleanUpOnSignals, registerCleanup } from '../scripts/services/cleanup.mjs'
import { readArguments, USAGE } from './arguments.mjs'
import { acceptRun, readAccepted, writeAccepted } from './check/accepted.mjs'
import { compareRun, hasFailed, printComparison } from './check/compare.mjs'
import { mergePasses } from './check/merge-passes.mjs'
import { describeMachine } from './harness/machine.mjs'
import { installPeers } from './harness/peers.mjs'
import { createProgress } from './harness/progress.mjs'
import { printTable } from './harness/report.mjs'
import { estimateMinutes, SUITES } from './suites.mjs'

if (process.argv.includes('--help')) {
  console.log(USAGE)
  process.exit()
}
const accepted = readAccepted()
const options = readOptions()
if (!existsSync(new URL('../dist/index.js', import.meta.url))) fail('dist is missing. Run npm run build first.')

cleanUpOnSignals()
try {
  makeTemporaryFolder()
  await installPeers()
  await runBenchmarks()
} finally {
  await cleanUp()
}

async function runBenchmarks() {
  const { modes, repeat, databases, all_databases } = options
  const started_at = new Date().toISOString()
  const machine = describeMachine()
  const plan = Object.entries(modes).map(([suite, mode]) => ({ suite, minutes: estimateMinutes(suite, mode) }))
  const progress = createProgress({ plan: Array.from({ length: repeat }, () => plan).flat() })
  progress.printPlan()
  const passes = []
  for (let pass = 1; pass <= repeat; pass++) {
    if (repeat > 1) console.log(`\nPass ${pass} of ${repeat}`)
    passes.push(await runSuites(progress))
  }
  const run = { started_at, modes, repeat, databases, all_databases, machine, tables: mergePasses(passes) }
  writeResults(run)
  if (options.accept) {
    writeAccepted(acceptRun(accepted, run))
    console.log('Accepted. Run npm run docs, and commit bench/accepted.json with the reason.')
  }
  if (options.check) {
    const entries = compareRun(accepted, run)
    printComparison(entries)
    if (hasFailed(entries)) process.exitCode = 1
  }
}

async function runSuites(progress) {
  const tables = []
  for (const [name, mode] of Object.entries(options.modes)) {
    const suite = await SUITES[name].load()
    progress.startSuite()
    for await (const { title, measure, skipped = null } of suite({ ...mode, databases: options.databases })) {
      if (skipped) console.log(`\n${title}: skipped (${skipped})`)
      const { rows, seconds } = skipped ? { rows: [], seconds: 0 } : await progress.measureTable(title, measure)
      if (!skipped) printTable(title, rows)
      tables.push({ suite: name, title, seconds, rows, skipped })
    }
    progress.endSuite()
  }
  return tables
}

function writeResults(run) {
  const text = `${JSON.stringify(run, null, 2)}\n`
  const folder = new URL('results/', import.meta.url)
  mkdirSync(folder, { recursive: true })
  writeFileSync(new URL('latest.json', folder), text)
  if (options.json) writeFileSync(options.json, text)
  const judged = run.tables.flatMap(({ rows }) => rows).filter(({ verdict }) => verdict !== '')
  const reached = judged.filter(({ verdict }) => verdict === 'ok').length
  console.log(`\n${reached} of ${judged.length} targets reached. Results: bench/results/latest.json`)
  if (options.strict && reached < judged.length) process.exitCode = 1
}

// Readable by all users, because the database servers run as another user.
function makeTemporaryFolder() {
  const folder = mkdtempSync(join(tmpdir(), 'faultboard-bench-'))
  registerCleanup(() => rm(folder, { recursive: true, force: true, maxRetries: 5 }))
  chmodSync(folder, 0o1777)
  process.env.TMPDIR = folder
}

function readOptions() {
  try {
    return readArguments(process.argv.slice(2), accepted)
  } catch (error) {
    // A usage error needs no stack.
    fail(error.message)
  }
}

function fail(message) {
  console.error(message)
  process.exit(1)
}
