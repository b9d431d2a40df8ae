import { existsSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { describe } from 'vitest'

/** Node.js version that runs a host. */
export interface Runtime {
  /** Name and major version, for example `Node.js 22`. */
  name: string
  major: number
  path: string
  isNewest: boolean
}

const hosts = fileURLToPath(new URL('../../hosts/node_modules', import.meta.url))
const currentMajor = Number(process.versions.node.split('.')[0])

const majors = [currentMajor, ...[22, 24].filter((major) => major !== currentMajor)]

/** Node.js of this process and the versions that `npm test` installs in test/hosts. */
const RUNTIMES: readonly Runtime[] = majors.map((major) => ({
  name: `Node.js ${major}`,
  major,
  path:
    major === currentMajor ? process.execPath : `${hosts}/node${major}-${process.platform}-${process.arch}/bin/node`,
  isNewest: major === Math.max(...majors),
}))

/** Runs the tests with every Node.js version, or with the newest only. A missing version is reported as skipped. */
export function describeEachRuntime(
  title: string,
  tests: (runtime: Runtime) => void,
  { onlyNewest = false }: { onlyNewest?: boolean } = {},
): void {
  for (const runtime of RUNTIMES.filter(({ isNewest }) => isNewest || !onlyNewest)) {
    const missing = existsSync(runtime.path) ? '' : ` (skipped: ${runtime.name} is not installed in test/hosts)`
    describe.skipIf(missing !== '')(`${title} on ${runtime.name}${missing}`, () => tests(runtime))
  }
}
