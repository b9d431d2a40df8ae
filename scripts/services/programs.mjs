import { accessSync, constants, readdirSync } from 'node:fs'
import { delimiter, join } from 'node:path'

/** Returns the paths of the programs by name, or undefined if one is missing. */
export function findPrograms(...names) {
  const found = names.map((name) => [name, findProgram(name)])
  return found.every(([, path]) => path) ? Object.fromEntries(found) : undefined
}

export function findProgram(name) {
  return folders()
    .map((folder) => join(folder, name))
    .find(isExecutable)
}

function folders() {
  const path = (process.env.PATH ?? '').split(delimiter).filter(Boolean)
  return [...path, '/usr/local/sbin', '/usr/sbin', '/usr/local/bin', '/usr/bin', ...debianPostgresFolders()]
}

// Debian installs the PostgreSQL programs outside the PATH, in one folder per major version.
function debianPostgresFolders() {
  const root = '/usr/lib/postgresql'
  try {
    const versions = readdirSync(root).sort((a, b) => Number(b) - Number(a))
    return versions.map((version) => join(root, version, 'bin'))
  } catch {
    return [] // Not Debian, or not installed.
  }
}

function isExecutable(path) {
  try {
    accessSync(path, constants.X_OK)
    return true
  } catch {
    return false
  }
}
