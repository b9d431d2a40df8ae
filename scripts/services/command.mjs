import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'
import { haltIfInterrupted, registerCleanup } from './cleanup.mjs'

const GRACE_MS = 5000

/**
 * Runs a program. Returns whether it succeeded, and its output unless `show` sent it to the terminal. On Ctrl-C, an
 * `uninterruptible` program is awaited instead of stopped.
 */
export async function run(program, args, { show = false, uninterruptible = false, ...options } = {}) {
  await haltIfInterrupted()
  const child = spawnGroup(program, args, {
    stdio: ['ignore', ...(show ? ['inherit', 'inherit'] : ['pipe', 'pipe'])],
    ...options,
  })
  const output = collectOutput(child)
  const closed = new Promise((resolve) => child.once('close', resolve))
  const cleanUpNow = registerCleanup(async () => {
    if (!uninterruptible) await stopGroup(child, 'SIGTERM')
    await closed
  })
  const failure = await waitForExit(child)
  // Stops remaining child processes, which would keep the pipes open and outlive this process.
  killGroup(child, 'SIGKILL')
  await cleanUpNow()
  await haltIfInterrupted()
  return { ok: failure === undefined, output: [output().trimEnd(), failure].filter(Boolean).join('\n') }
}

/**
 * Starts a program in its own process group. Ctrl-C then reaches only this process, which stops the program cleanly.
 */
export function spawnGroup(program, args, options) {
  return spawn(program, args, { detached: true, ...options })
}

export async function stopGroup(child, signal) {
  if (!isRunning(child)) return
  const exited = once(child, 'exit')
  killGroup(child, signal)
  await Promise.race([exited, sleep(GRACE_MS, undefined, { ref: false })])
  killGroup(child, 'SIGKILL')
  await exited
}

export function collectOutput(child) {
  const chunks = []
  child.stdout?.on('data', (chunk) => chunks.push(chunk))
  child.stderr?.on('data', (chunk) => chunks.push(chunk))
  return () => Buffer.concat(chunks).toString()
}

/** Resolves to undefined after exit code 0, otherwise to the reason. */
export function waitForExit(child) {
  return new Promise((resolve) => {
    child.once('error', (error) => resolve(error.message))
    child.once('exit', (code, signal) =>
      resolve(code === 0 ? undefined : signal ? `terminated by ${signal}` : `exited with code ${code}`),
    )
  })
}

function isRunning(child) {
  return child.pid !== undefined && child.exitCode === null && child.signalCode === null
}

function killGroup(child, signal) {
  if (child.pid === undefined) return
  try {
    process.kill(-child.pid, signal)
  } catch (error) {
    // The group has already ended.
    if (error.code !== 'ESRCH') throw error
  }
}
