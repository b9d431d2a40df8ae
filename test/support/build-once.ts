import { execFileSync } from 'node:child_process'
import { existsSync, readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'

/** Builds dist if it is missing. Some tests start processes from it, and `npx vitest` does not build. */
export function setup(): void {
  if (!existsSync('dist')) execFileSync(process.execPath, ['scripts/build.mjs'], { stdio: 'inherit' })
  else if (newestChange('src') > newestChange('dist'))
    console.warn('dist is older than src. Tests that start processes use the old code. To update it: npm run build')
}

function newestChange(folder: string): number {
  const files = readdirSync(folder, { recursive: true, encoding: 'utf8' })
  return Math.max(...files.map((file) => statSync(join(folder, file), { throwIfNoEntry: false })?.mtimeMs ?? 0))
}
