import { chmodSync, lstatSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { registerCleanup } from './cleanup.mjs'
import { run } from './command.mjs'
import { findProgram } from './programs.mjs'

const POLICY = '/usr/sbin/policy-rc.d'
const KEPT_POLICY = `${POLICY}.before-faultboard`

export function canInstall() {
  return process.getuid?.() === 0 && findProgram('apt-get') !== undefined
}

/** Installs each package separately, so that an unavailable package does not affect other packages. */
export async function install(packages) {
  const allowServices = forbidServices()
  try {
    await aptGet('update')
    for (const name of packages) await aptGet('install', '--yes', '--no-install-recommends', name)
  } finally {
    await allowServices()
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
function forbidServices() {
  // A backup left by a killed run is the original policy. Never overwrites it.
  if (exists(POLICY) && !exists(KEPT_POLICY)) renameSync(POLICY, KEPT_POLICY)
  writeFileSync(POLICY, '#!/bin/sh\nexit 101\n')
  chmodSync(POLICY, 0o755)
  return registerCleanup(() => {
    rmSync(POLICY, { force: true })
    if (exists(KEPT_POLICY)) renameSync(KEPT_POLICY, POLICY)
  })
}

// existsSync does not work, because the policy is often a dangling symbolic link.
function exists(path) {
  return lstatSync(path, { throwIfNoEntry: false }) !== undefined
}
