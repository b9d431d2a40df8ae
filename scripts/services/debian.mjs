import { chmodSync, lstatSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { whenDone } from './cleanup.mjs'
import { run } from './command.mjs'
import { findProgram } from './programs.mjs'

const POLICY = '/usr/sbin/policy-rc.d'
const KEPT_POLICY = `${POLICY}.before-faultboard`

export function canInstall() {
  return process.getuid?.() === 0 && findProgram('apt-get') !== undefined
}

/** Installs each package by itself, so that one that cannot be had does not cost the others. */
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
    // A half-installed package breaks the machine for everything else.
    uninterruptible: true,
  })
  if (!ok) console.log(`apt-get ${args.join(' ')} failed:\n${output}`)
}

// Debian starts a server right after installing it, on its standard port, unless this file says no.
function forbidServices() {
  // A kept policy from a run that was killed is the machine's own one: never replace it by ours.
  if (exists(POLICY) && !exists(KEPT_POLICY)) renameSync(POLICY, KEPT_POLICY)
  writeFileSync(POLICY, '#!/bin/sh\nexit 101\n')
  chmodSync(POLICY, 0o755)
  return whenDone(() => {
    rmSync(POLICY, { force: true })
    if (exists(KEPT_POLICY)) renameSync(KEPT_POLICY, POLICY)
  })
}

// Not existsSync: the policy is often a symbolic link.
function exists(path) {
  return lstatSync(path, { throwIfNoEntry: false }) !== undefined
}
