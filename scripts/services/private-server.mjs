import { chown, mkdtemp, rm } from 'node:fs/promises'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { haltIfInterrupted, registerCleanup } from './cleanup.mjs'
import { collectOutput, run, spawnGroup, stopGroup, waitForExit } from './command.mjs'

const READY_PATTERN = /ready (to accept|for) connections/i
const READY_TIMEOUT_MS = 60_000
const UNPRIVILEGED_ID = 65534

/**
 * Starts a private server in a new folder, on a free port of 127.0.0.1, never as root. `prepare` receives
 * `{ folder, run }` and fills the folder. `command` receives `{ folder, port }` and returns program and arguments.
 */
export async function startPrivateServer({ name, prepare, command, stopSignal, url }) {
  const user = process.getuid?.() === 0 ? { uid: UNPRIVILEGED_ID, gid: UNPRIVILEGED_ID } : {}
  const parent = process.env.FAULTBOARD_TEST_MEMORY || tmpdir()
  const folder = await mkdtemp(join(parent, `faultboard-${name.toLowerCase()}-`))
  const removeFolder = registerCleanup(() => rm(folder, { recursive: true, force: true, maxRetries: 5 }))
  if (user.uid) await chown(folder, user.uid, user.gid)

  const options = { ...user, cwd: folder, env: { ...process.env, TMPDIR: folder, HOME: folder } }
  await prepare?.({ folder, run: (program, args) => runOrThrow(program, args, options) })

  const port = await freePort()
  const [program, ...args] = command({ folder, port })
  let child
  const launch = async () => {
    await haltIfInterrupted()
    child = spawnGroup(program, args, { ...options, stdio: ['ignore', 'pipe', 'pipe'] })
    await waitUntilReady(child)
  }
  const stopChild = registerCleanup(() => child && stopGroup(child, stopSignal))
  await launch()
  return {
    name,
    url: url(port),
    /** Stops the server and returns the function that starts it again, with the same data and port. */
    async pause(signal = stopSignal) {
      await stopGroup(child, signal)
      return launch
    },
    async stop() {
      await stopChild()
      await removeFolder()
    },
  }
}

async function runOrThrow(program, args, options) {
  const { ok, output } = await run(program, args, options)
  if (!ok) throw new Error(`${program} failed:\n${output}`)
}

async function waitUntilReady(child) {
  const output = collectOutput(child)
  let timer
  const problem = await Promise.race([
    new Promise((resolve) => {
      const checkOutput = () => READY_PATTERN.test(output()) && resolve(undefined)
      child.stdout.on('data', checkOutput)
      child.stderr.on('data', checkOutput)
    }),
    waitForExit(child).then((reason) => reason ?? 'exited immediately'),
    new Promise((resolve) => {
      timer = setTimeout(resolve, READY_TIMEOUT_MS, 'was not ready in time')
    }),
  ])
  clearTimeout(timer)
  await haltIfInterrupted()
  if (problem) throw new Error(`${child.spawnfile} ${problem}:\n${output()}`)
  // Keeps reading the log, so that the server never blocks on a full pipe.
  for (const stream of [child.stdout, child.stderr]) stream.removeAllListeners('data').resume()
}

function freePort() {
  return new Promise((resolve, reject) => {
    const probe = createServer().once('error', reject)
    probe.listen(0, '127.0.0.1', () => {
      const { port } = probe.address()
      probe.close(() => resolve(port))
    })
  })
}
