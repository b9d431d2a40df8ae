// npm test [-- [--quick] [arguments of vitest]]
import { chmodSync, existsSync, mkdtempSync, readdirSync, readFileSync, realpathSync, statSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { cleanUp, cleanUpOnSignals, whenDone } from './services/cleanup.mjs'
import { run } from './services/command.mjs'
import { services, startServices } from './services/services.mjs'
import { filesToTryAgain, runVitest, total } from './test/vitest.mjs'

const quick = process.argv.includes('--quick')
const vitestArguments = process.argv.slice(2).filter((argument) => argument !== '--quick')
const filtered = vitestArguments.length > 0

const totals = { passed: 0, failed: 0, skipped: 0 }
const closingLines = []

process.chdir(fileURLToPath(new URL('..', import.meta.url)))
cleanUpOnSignals()
try {
  makeTemporaryFolder()
  await everything()
} finally {
  await cleanUp()
}
for (const line of closingLines) console.log(line)
console.log(`${totals.passed} passed, ${totals.failed} failed, ${totals.skipped} skipped`)
process.exitCode = totals.failed > 0 ? 1 : 0

async function everything() {
  // It compiles for minutes where it was never done, so it runs beside everything that can do without.
  const hosts = quick || isInstalled('test/hosts') ? null : installHosts()
  const source = filtered ? [] : [checkSource()]
  const built = await check('build', process.execPath, ['scripts/build.mjs'])
  if (built && !filtered && !quick) await checkPackage()
  await Promise.all(source)
  if (!built) {
    skip('the package checks and all tests', 'the build failed')
    return
  }
  const { env, skipped } = quick ? withoutServices() : await withServices()
  const parts = []
  for await (const part of partsOf(hosts)) parts.push(await runVitest(part.arguments, { ...env, ...part.env }))
  const counts = filtered ? total(parts) : await tryAgain(total(parts), env)
  totals.passed += counts.passed
  totals.failed += counts.failures.length
  for (const failure of counts.failures) tell('failed', failure)
  reportSkipped(skipped, counts.skipped)
}

/** A test that starves on a small, busy machine gets a second try with the machine for itself, and is told of aloud. */
async function tryAgain(counts, env) {
  const files = filesToTryAgain(counts.failures)
  if (files.length === 0) return counts
  const again = await runVitest([...files, '--no-file-parallelism'], env)
  for (const failure of counts.failures) tell('needed a second try', failure)
  return total([...[...counts.files.values()].filter(({ file }) => !files.includes(file)), again])
}

function tell(what, { file, name, reason }) {
  closingLines.push(`${what}: ${file} > ${name}${reason && ` (${reason})`}`)
}

/** What each run of vitest is given: a second one for the tests that wait for the packages of hosts. */
async function* partsOf(hosts) {
  const waiting = hosts && !filtered ? testsOfHosts() : []
  if (waiting.length > 0) yield { arguments: [], env: { FAULTBOARD_TEST_LATER: waiting.join() } }
  await hosts
  yield { arguments: waiting.length > 0 ? waiting : vitestArguments, env: {} }
}

/** They are known by where they look for them; one that ran too early would skip itself. */
function testsOfHosts() {
  const folders = readdirSync('test').filter((name) => name !== 'hosts')
  const files = folders.flatMap((folder) =>
    readdirSync(join('test', folder), { recursive: true, encoding: 'utf8' }).map((name) => join('test', folder, name)),
  )
  const tests = files.filter((file) => /\.test\.tsx?$/.test(file))
  return tests.filter((file) => /test\/hosts|support\/runtimes/.test(readFileSync(file, 'utf8')))
}

async function checkSource() {
  await check('types', 'tsc', ['--noEmit', '-p', 'tsconfig.json'])
  await check('lint', 'biome', ['check', '--error-on-warnings', '.'])
  await check('unused code', 'knip', [])
}

/** What only some hosts bring with them; the tests that need it skip themselves, and say so, where it cannot be had. */
async function installHosts() {
  const started = performance.now()
  // Low priority, because tests run at the same time. A driver that has to be compiled needs no optimization.
  const { ok, output } = await run('nice', ['npm', 'ci', '--no-audit', '--no-fund'], {
    cwd: 'test/hosts',
    env: { ...process.env, ...headersOfNode(), CFLAGS: '-O0', CXXFLAGS: '-O0' },
  })
  console.log(`${mark(ok)} packages of hosts ${since(started)}`)
  if (!ok) console.log(output)
}

/** Lets node-gyp use the installed headers of Node.js instead of downloading them. */
function headersOfNode() {
  const folder = join(dirname(realpathSync(process.execPath)), '..')
  return existsSync(join(folder, 'include/node/node.h')) ? { npm_config_nodedir: folder } : {}
}

/** Whether the packages of a folder are those of its lock. */
function isInstalled(folder) {
  const installed = `${folder}/node_modules/.package-lock.json`
  return existsSync(installed) && statSync(installed).mtimeMs >= statSync(`${folder}/package-lock.json`).mtimeMs
}

async function checkPackage() {
  if (existsSync('scripts/generate-docs.mjs')) {
    await check('docs', process.execPath, ['scripts/generate-docs.mjs', '--check'])
  }
  // Both pack the package, which would build it once more.
  const env = { ...process.env, npm_config_ignore_scripts: 'true' }
  await check('publint', 'publint', ['--strict'], env)
  // A script for a tag has no types.
  const scripts = ['--exclude-entrypoints', 'browser.js']
  await check('attw', 'attw', ['--pack', '.', '--profile', 'esm-only', ...scripts], env)
}

function withoutServices() {
  const env = { ...process.env, DATABASES: 'sqlite' }
  for (const { variable } of services) delete env[variable]
  return { env, skipped: services.map((service) => ({ service, reason: '--quick' })) }
}

async function withServices() {
  const started = performance.now()
  const dialects = (process.env.DATABASES || 'sqlite,postgres,mysql').split(',')
  const { running, skipped, failed, env } = await startServices({ dialects })
  const names = running.map((service) => service.name).join(', ')
  console.log(`${mark(failed.length === 0)} services ${since(started)} (${names || 'none started'})`)
  for (const { service, reason } of failed) {
    totals.failed++
    console.log(`${service.name}: ${reason}`)
  }
  return { env: { ...process.env, ...env }, skipped }
}

async function check(name, program, args, env = process.env) {
  const started = performance.now()
  const path = program.includes('/') ? program : `node_modules/.bin/${program}`
  const { ok, output } = await run(path, args, { env })
  totals[ok ? 'passed' : 'failed']++
  console.log(`${mark(ok)} ${name} ${since(started)}`)
  if (!ok) {
    console.log(output)
    closingLines.push(`failed: ${name}`)
  }
  return ok
}

/** The tests that a missing service costs are told in the line of that service. */
function reportSkipped(missing, tests) {
  for (const { service, reason } of missing) {
    const own = [...tests.keys()].filter((key) => key.includes(service.variable))
    const cost = own.reduce((sum, key) => sum + tests.get(key), 0)
    for (const key of own) tests.delete(key)
    skip(cost > 0 ? `${service.name} and ${plural(cost)}` : service.name, reason, Math.max(cost, 1))
  }
  for (const [reason, amount] of tests) skip(plural(amount), reason, amount)
}

function skip(what, reason, amount = 1) {
  totals.skipped += amount
  closingLines.push(`skipped: ${what} (${reason})`)
}

// Everything temporary, of the servers, the tests and the browser, goes in one folder that is removed at the end.
function makeTemporaryFolder() {
  const folder = mkdtempSync(join(tmpdir(), 'faultboard-'))
  whenDone(() => rm(folder, { recursive: true, force: true, maxRetries: 5 }))
  // As open as the system's own one, because the servers and apt-get use it under other users.
  chmodSync(folder, 0o1777)
  process.env.TMPDIR = folder
}

function plural(amount) {
  return amount === 1 ? '1 test' : `${amount} tests`
}

function mark(ok) {
  return ok ? '✓' : '✗'
}

function since(started) {
  return `${((performance.now() - started) / 1000).toFixed(1)} s`
}
