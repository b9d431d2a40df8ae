import { chmodSync, lstatSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { registerCleanup } from './cleanup.mjs'
import { run } from './command.mjs'
import { findProgram } from './programs.mjs'

const POLICY = '/usr/sbin/policy-rc.d'
const POLICY_BACKUP = `${POLICY}.before-faultboard`

export function canInstall() {
  return process.getuid?.() === 0 && findProgram('apt-get') !== undefined
}

/** Installs each package separately, so that an unavailable package does not affect other packages. */
export async function install(packages) {
  const restorePolicy = preventServiceStart()
  try {
    await aptGet('update')
    for (const name of packages) await aptGet('install', '--yes', '--no-install-recommends', name)
  } finally {
    await restorePolicy()
  }
}

async function aptGet(...args) {
  const { ok, output } = await run('apt-get', ['--quiet', '--option=DPkg::Lock::Timeout=300', ...args], {
    env: { ...process.env, DEBIAN_FRONTEND: 'noninteractive' },
    // Not interruptible, because a partially installed package breaks apt for everything else.
    uninterruptible: true,
  })
  if (!ok) console.log(`apt-get ${args.join(' ')} failed:\n${output}`)
}

// Prevents Debian from starting a server on its standard port after the installation.
function preventServiceStart() {
  // Keeps a backup left by a killed run, because it contains the original policy.
  if (exists(POLICY) && !exists(POLICY_BACKUP)) renameSync(POLICY, POLICY_BACKUP)
  writeFileSync(POLICY, '#!/bin/sh\nexit 101\n')
  chmodSync(POLICY, 0o755)
  return registerCleanup(() => {
    rmSync(POLICY, { force: true })
    if (exists(POLICY_BACKUP)) renameSync(POLICY_BACKUP, POLICY)
  })
}

// existsSync does not work, because the policy is often a dangling symbolic link.
function exists(path) {
  return lstatSync(path, { throwIfNoEntry: false }) !== undefined
}
