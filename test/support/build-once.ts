import { execFileSync } from 'node:child_process'
import { existsSync } from 'node:fs'

/** Builds dist if it is missing. Some tests start processes from it, and `npx vitest` does not build. */
export function setup(): void {
  if (existsSync('dist')) return
  execFileSync(process.execPath, ['scripts/build.mjs'], { stdio: 'inherit' })
}
