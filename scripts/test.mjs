// npm test [-- [--quick] [arguments of vitest]]
import {
  chmodSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  statfsSync,
  statSync,
} from 'node:fs'
import { rm } from 'node:fs/promises'
import { freemem, tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { cleanUp, cleanUpOnSignals, registerCleanup } from './services/cleanup.mjs'
import { run } from './services/command.mjs'
import { services, startServices } from './services/services.mjs'
import { describeFailure, filesToRetry, retryLines, runVitest, slowestLines, total } from './test/vitest.mjs'
import { TYPESCRIPT_ENVIRONMENT, TYPESCRIPT_FLAGS } from './typescript.mjs'

const isQuick = process.argv.includes('--quick')
const vitestArguments = process.argv.slice(2).filter((argument) => argument !== '--quick')
const isFiltered = vitestArguments.length > 0

const SHARED_MEMORY = '/dev/shm'
/** The databases of a whole run take up to 3 GB. */
const MIN_MEMORY_BYTES = 8 * 1024 ** 3

const totals = { passed: 0, failed: 0, skipped: 0 }
const closingLines = []

process.chdir(fileURLToPath(new URL('..', import.meta.url)))
cleanUpOnSignals()
try {
  makeTemporaryFolders()
  await runEverything()
} finally {
  await cleanUp()
}
for (const line of closingLines) console.log(line)
console.log(`${totals.passed} passed, ${totals.failed} failed, ${totals.skipped} skipped`)
process.exitCode = totals.failed > 0 ? 1 : 0

async function runEverything() {
  if (isQuick) return quickChecks()
  // Takes minutes in a new clone, so it runs in parallel with everything that does not need it.
  const hosts = isInstalled('test/hosts') || !includesHostTests() ? Promise.resolve() : installHosts()
  const sourceCheck = isFiltered ? null : checkSource()
  // `checkSource` checks the types of the whole source at the same time. In a new clone, `npm ci` has built `dist`.
  const buildFlags = isFiltered ? [] : ['--no-check', '--if-stale']
  if (!(await check('build', process.execPath, ['scripts/build.mjs', ...buildFlags]))) {
    await Promise.all([hosts, sourceCheck])
    addSkipped('the package checks and all tests', 'the build failed')
    return
  }
  const [{ env, skipped }, tarball] = await Promise.all([withServices(), isFiltered ? null : pack()])
  if (tarball) env.FAULTBOARD_TEST_TARBALL = tarball
  const tests = isFiltered ? runFiltered(hosts, env) : runPasses(hosts, env)
  const [counts] = await Promise.all([tests, sourceCheck?.then(() => checkPackage(tarball))])
  report(counts, skipped)
}

/** Types, lint and the tests that need neither a build nor a service. */
async function quickChecks() {
  const { env, skipped } = withoutServices()
  const [counts] = await Promise.all([runVitest(vitestArguments, { env }), checkSource()])
  report(counts, skipped)
}

async function runFiltered(hosts, env) {
  await hosts
  return runVitest(vitestArguments, { env })
}

/** The tests that need packages of test/hosts (other versions of Node.js, Next, Nitro) run in parallel with all other tests. */
async function runPasses(hosts, env) {
  const files = findHostTests()
  const hostPass = hosts.then(() =>
    runVitest(files, { env: { ...env, FAULTBOARD_TEST_WORKERS: '2' }, name: 'hosts', background: true }),
  )
  const mainPass = runVitest([], {
    env: { ...env, FAULTBOARD_TEST_EXCLUDE: files.join(), FAULTBOARD_TEST_WORKERS: '3' },
  })
  return retry(total(await Promise.all([mainPass, hostPass])), env)
}

/** Retries files that failed on a busy machine, without parallel tests. */
async function retry(counts, env) {
  const files = filesToRetry(counts.failures)
  if (files.length === 0) return counts
  const retried = await runVitest([...files, '--no-file-parallelism'], { env, name: 'retry' })
  closingLines.push(...retryLines(files, counts.failures, retried.failures))
  return total([...[...counts.files.values()].filter(({ file }) => !files.includes(file)), retried])
}

function report(counts, missingServices) {
  totals.passed += counts.passed
  totals.failed += counts.failures.length
  for (const failure of counts.failures) closingLines.push(`failed: ${describeFailure(failure)}`)
  reportSkipped(missingServices, counts.skipped)
  closingLines.push(...slowestLines(counts.tests))
}

/** Finds tests that use test/hosts. Such a test skips itself until test/hosts is installed. */
function findHostTests() {
  const entries = readdirSync('test', { withFileTypes: true }).filter(({ name }) => name !== 'hosts')
  const files = entries.flatMap((entry) => {
    const path = join('test', entry.name)
    return entry.isDirectory() ? readdirSync(path, { recursive: true }).map((name) => join(path, name)) : path
  })
  const tests = files.filter((file) => /\.test\.tsx?$/.test(file))
  return tests.filter((file) => /test\/hosts|support\/processes\/runtimes/.test(readFileSync(file, 'utf8')))
}

/** Returns true if the run includes tests of hosts. Arguments other than paths below test/ may select any test. */
function includesHostTests() {
  const paths = vitestArguments.filter((argument) => argument.startsWith('test/'))
  return paths.length === 0 || findHostTests().some((file) => paths.some((path) => file.includes(path)))
}

/** Caches make the second run five times faster. */
async function checkSource() {
  const caches = 'node_modules/.cache'
  const incremental = ['--incremental', '--tsBuildInfoFile', `${caches}/types.tsbuildinfo`]
  const flags = ['--noEmit', '-p', 'tsconfig.json', ...TYPESCRIPT_FLAGS, ...incremental]
  await check('types', 'tsc', flags, TYPESCRIPT_ENVIRONMENT)
  await check('lint', 'biome', ['check', '--error-on-warnings', '.'])
  await check('unused code', 'knip', ['--cache', '--cache-location', `${caches}/knip`])
}

/**
 * Installs packages that only some hosts use. Tests of a package that cannot be installed skip themselves by name.
 * NestJS, Nitro and the frameworks of examples are not optional dependencies: npm would skip those on Node.js 20,
 * because some of their packages require a newer version.
 */
async function installHosts() {
  const started = performance.now()
  const fullInstall = await npmCi('test/hosts')
  const { ok } = fullInstall.ok ? fullInstall : await npmCi('test/hosts', '--omit=dev')
  console.log(
    `${statusMark(fullInstall.ok)} host packages ${elapsedText(started)}${fullInstall.ok || !ok ? '' : ' (without NestJS 12, Nitro and the frameworks of examples)'}`,
  )
  if (!fullInstall.ok) console.log(fullInstall.output)
}

/** Low priority, because tests run at the same time. Native drivers are compiled without optimization. */
function npmCi(folder, ...flags) {
  return run('nice', ['npm', 'ci', '--no-audit', '--no-fund', ...flags], {
    cwd: folder,
    env: { ...process.env, ...nodeHeaders(), CFLAGS: '-O0', CXXFLAGS: '-O0' },
  })
}

/** Lets node-gyp use the installed headers of Node.js instead of downloading them. */
function nodeHeaders() {
  const folder = join(dirname(realpathSync(process.execPath)), '..')
  return existsSync(join(folder, 'include/node/node.h')) ? { npm_config_nodedir: folder } : {}
}

/** Returns true if the installed packages of a folder match its lock file. */
function isInstalled(folder) {
  const installedLock = `${folder}/node_modules/.package-lock.json`
  return existsSync(installedLock) && statSync(installedLock).mtimeMs >= statSync(`${folder}/package-lock.json`).mtimeMs
}

/**
 * Packs the package once for all tests and checks. Returns the path of the tarball, or null if each test must pack its
 * own.
 */
async function pack() {
  // The prepack script would build the package again.
  const { ok, output } = await run('npm', ['pack', '--ignore-scripts', '--silent', '--pack-destination', tmpdir()])
  const file = join(tmpdir(), output.split('\n').at(-1))
  return ok && existsSync(file) ? file : null
}

async function checkPackage(tarball) {
  if (existsSync('scripts/generate-docs.mjs')) {
    await check('docs', process.execPath, ['scripts/generate-docs.mjs', '--check'])
  }
  // publint and attw pack the package, which would build it again.
  const env = { ...process.env, npm_config_ignore_scripts: 'true' }
  await check('publint', 'publint', [...(tarball ? [tarball] : []), '--strict'], env)
  // The bundle for a script tag has no type declarations.
  const exclusion = ['--exclude-entrypoints', 'browser.js']
  await check('attw', 'attw', [...(tarball ? [tarball] : ['--pack', '.']), ...exclusion], env)
}

function withoutServices() {
  const env = { ...process.env, DATABASES: 'sqlite', FAULTBOARD_TEST_QUICK: '1' }
  for (const { variable } of services) delete env[variable]
  return { env, skipped: services.map((service) => ({ service, reason: '--quick' })) }
}

async function withServices() {
  const started = performance.now()
  const dialects = (process.env.DATABASES || 'sqlite,postgres,mysql').split(',')
  const { running, skipped, failed, env } = await startServices({ dialects })
  const names = running.map((service) => service.name).join(', ')
  console.log(`${statusMark(failed.length === 0)} services ${elapsedText(started)} (${names || 'none started'})`)
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
  console.log(`${statusMark(ok)} ${name} ${elapsedText(started)}`)
  if (!ok) {
    console.log(output)
    closingLines.push(`failed: ${name}`)
  }
  return ok
}

/** Adds the tests that a missing service skips to the line of that service. */
function reportSkipped(missing, tests) {
  for (const { service, reason } of missing) {
    const testNames = [...tests.keys()].filter((key) => key.includes(service.variable))
    const skippedCount = testNames.reduce((sum, key) => sum + tests.get(key), 0)
    for (const key of testNames) tests.delete(key)
    addSkipped(
      skippedCount > 0 ? `${service.name} and ${plural(skippedCount)}` : service.name,
      reason,
      Math.max(skippedCount, 1),
    )
  }
  for (const [reason, amount] of tests) addSkipped(plural(amount), reason, amount)
}

function addSkipped(subject, reason, amount = 1) {
  totals.skipped += amount
  closingLines.push(`skipped: ${subject} (${reason})`)
}

/**
 * Sets TMPDIR to a folder for all temporary files of servers, tests and the browser. Databases are kept in memory if there
 * is room: creating one on MariaDB takes 0.2 s there and 3 s on a disk, which has to sync every table.
 */
function makeTemporaryFolders() {
  process.env.TMPDIR = temporaryFolder(tmpdir())
  if (hasRoomInMemory()) process.env.FAULTBOARD_TEST_MEMORY = temporaryFolder(SHARED_MEMORY)
}

/** A folder that is removed at the end. Servers and apt-get use it as other users, so its mode is that of /tmp. */
function temporaryFolder(parent) {
  const folder = mkdtempSync(join(parent, 'faultboard-'))
  registerCleanup(() => rm(folder, { recursive: true, force: true, maxRetries: 5 }))
  chmodSync(folder, 0o1777)
  return folder
}

function hasRoomInMemory() {
  if (!existsSync(SHARED_MEMORY)) return false
  const { bavail, bsize } = statfsSync(SHARED_MEMORY)
  return Math.min(bavail * bsize, freemem()) >= MIN_MEMORY_BYTES
}

function plural(amount) {
  return amount === 1 ? '1 test' : `${amount} tests`
}

function statusMark(ok) {
  return ok ? '✓' : '✗'
}

function elapsedText(started) {
  return `${((performance.now() - started) / 1000).toFixed(1)} s`
}
