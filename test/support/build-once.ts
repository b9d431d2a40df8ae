import { execFileSync } from 'node:child_process'
import { existsSync } from 'node:fs'

/** Some tests start processes from dist. `npm test` has just built it; a bare `npx vitest` may find none. */
export function setup(): void {
  if (existsSync('dist')) return
  execFileSync(process.execPath, ['scripts/build.mjs'], { stdio: 'inherit' })
}
