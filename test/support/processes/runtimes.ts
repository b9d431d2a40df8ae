import { existsSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { describe } from 'vitest'

/** A Node.js to run a host on. */
export interface Runtime {
  /** Such as `Node.js 22`. */
  name: string
  path: string
}

const hosts = fileURLToPath(new URL('../../hosts/node_modules', import.meta.url))
const own_major = Number(process.versions.node.split('.')[0])

/** The Node.js that runs the tests, and the others that `npm test` installs with test/hosts. */
const RUNTIMES: readonly Runtime[] = [
  { name: `Node.js ${own_major}`, path: process.execPath },
  ...[22, 24]
    .filter((major) => major !== own_major)
    .map((major) => ({
      name: `Node.js ${major}`,
      path: `${hosts}/node${major}-${process.platform}-${process.arch}/bin/node`,
    })),
]

/** Runs the tests with every Node.js that is here; one that is not is skipped by name. */
export function describeEachRuntime(title: string, tests: (runtime: Runtime) => void): void {
  for (const runtime of RUNTIMES) {
    const missing = existsSync(runtime.path) ? '' : ` (skipped: there is no ${runtime.name} in test/hosts)`
    describe.skipIf(missing !== '')(`${title} on ${runtime.name}${missing}`, () => tests(runtime))
  }
}
