import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { text } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'
import { freshDatabase } from './harness/databases.mjs'
import { row } from './harness/report.mjs'
import { startServer } from './harness/servers.mjs'

const MAIN = fileURLToPath(new URL('../dist/cli/main.js', import.meta.url))
/**
 * Checks to report; `faultboard prove` prints all checks. The phases `before` and `after` repeat the limits of
 * the phase `during`.
 */
const SHOWN_CHECKS = /during$|^memory|^descriptors|^errors/
const UNITS = { p50: 'ms', p99: 'ms', stall: 'ms', failures: '', memory: 'MB', descriptors: '', errors: '' }

/** Runs `faultboard prove` on every database: with 100,000 errors on the first database, with 10,000 on all others. */
export async function* harm({ quick, databases }) {
  for (const [index, dialect] of databases.entries()) {
    const title = `Impact on the host, ${dialect}`
    const server = dialect === 'sqlite' ? null : await startServer(dialect)
    if (server?.missing) yield { title, skipped: server.missing }
    else yield { title, measure: () => measureDatabase(dialect, server?.url ?? null, quick || index > 0) }
    await server?.stop?.()
  }
}

async function measureDatabase(dialect, server, isQuick) {
  const database = await freshDatabase(dialect, server)
  try {
    const { scenarios } = await prove(['--database', database.url, ...(isQuick ? ['--quick'] : [])])
    return scenarios.flatMap(scenarioRows)
  } finally {
    await database.remove()
  }
}

async function prove(flags) {
  const child = spawn(process.execPath, [MAIN, 'prove', '--json', ...flags], { stdio: ['ignore', 'pipe', 'inherit'] })
  const [output, [code]] = await Promise.all([text(child.stdout), once(child, 'exit')])
  if (output === '') throw new Error(`faultboard prove exited with ${code} without a report`)
  return JSON.parse(output)
}

function scenarioRows({ title, skipped, checks }) {
  if (skipped !== null) return [row({ name: title, figure: `skipped: ${skipped}` })]
  return checks
    .filter(({ name }) => SHOWN_CHECKS.test(name))
    .map(({ name, value, limit }) =>
      row({ name: `${title}: ${name}`, figure: value, unit: UNITS[name.split(' ')[0]], limit: { max: limit } }),
    )
}
