// npm run bench [-- [capture] [requests] [write] [pages] [search] [jobs] [diagnostics] [flood] [recovery] [--quick] [--large] [--databases sqlite,postgres,mysql] [--json FILE] [--strict]]
import { chmodSync, existsSync, mkdirSync, mkdtempSync, writeFileSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { cleanUp, cleanUpOnSignals, whenDone } from '../scripts/services/cleanup.mjs'
import { describeMachine } from './harness/machine.mjs'
import { installPeers } from './harness/peers.mjs'
import { createProgress } from './harness/progress.mjs'
import { printTable } from './harness/report.mjs'
import { estimateMinutes, SUITES } from './suites.mjs'

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    quick: { type: 'boolean', default: false },
    large: { type: 'boolean', default: false },
    databases: { type: 'string', default: 'sqlite,postgres,mysql' },
    json: { type: 'string' },
    strict: { type: 'boolean', default: false },
  },
})
const unknown = positionals.filter((name) => !Object.hasOwn(SUITES, name))
if (unknown.length > 0) fail(`Unknown suite ${unknown.join(', ')}. Suites: ${Object.keys(SUITES).join(', ')}`)
if (!existsSync(new URL('../dist/index.js', import.meta.url))) fail('dist is missing. Run npm run build first.')

cleanUpOnSignals()
try {
  makeTemporaryFolder()
  await installPeers()
  await everything()
} finally {
  await cleanUp()
}

async function everything() {
  const started = new Date()
  const options = { quick: values.quick, large: values.large, databases: values.databases.split(',') }
  const names = positionals.length > 0 ? positionals : Object.keys(SUITES)
  const plan = names.map((suite) => ({ suite, minutes: estimateMinutes(suite, options) }))
  const progress = createProgress({ plan })
  progress.printPlan()
  const tables = []
  for (const name of names) {
    const suite = await SUITES[name].load()
    progress.startSuite()
    for await (const { title, measure, skipped = null } of suite(options)) {
      if (skipped) console.log(`\n${title}: skipped (${skipped})`)
      const { rows, seconds } = skipped ? { rows: [], seconds: 0 } : await progress.measureTable(title, measure)
      if (!skipped) printTable(title, rows)
      tables.push({ suite: name, title, seconds, rows, skipped })
    }
    progress.endSuite()
  }
  keep({ started_at: started.toISOString(), ...options, machine: describeMachine(), tables })
}

function keep(results) {
  const text = `${JSON.stringify(results, null, 2)}\n`
  const folder = new URL('results/', import.meta.url)
  mkdirSync(folder, { recursive: true })
  writeFileSync(new URL('latest.json', folder), text)
  if (values.json) writeFileSync(values.json, text)
  const judged = results.tables.flatMap(({ rows }) => rows).filter(({ verdict }) => verdict !== '')
  const reached = judged.filter(({ verdict }) => verdict === 'ok').length
  console.log(`\n${reached} of ${judged.length} targets reached. Results: bench/results/latest.json`)
  if (values.strict && reached < judged.length) process.exitCode = 1
}

// Readable by all users, because the database servers run as another user.
function makeTemporaryFolder() {
  const folder = mkdtempSync(join(tmpdir(), 'faultboard-bench-'))
  whenDone(() => rm(folder, { recursive: true, force: true, maxRetries: 5 }))
  chmodSync(folder, 0o1777)
  process.env.TMPDIR = folder
}

function fail(sentence) {
  console.error(sentence)
  process.exit(1)
}
