import { existsSync } from 'node:fs'
import { dirname, join } from 'node:path'

const LOCKS = {
  'pnpm-lock.yaml': 'pnpm',
  'yarn.lock': 'yarn',
  'bun.lock': 'bun',
  'bun.lockb': 'bun',
  'package-lock.json': 'npm',
} as const

/** By the nearest lock file, which several packages have at their root alone. Above a repository begins what is no part of it. */
export function packageManager(folder: string): (typeof LOCKS)[keyof typeof LOCKS] {
  const found = Object.entries(LOCKS).find(([name]) => existsSync(join(folder, name)))
  if (found) return found[1]
  const above = dirname(folder)
  return above === folder || existsSync(join(folder, '.git')) ? 'npm' : packageManager(above)
}
