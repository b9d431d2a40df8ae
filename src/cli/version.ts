import { readFileSync } from 'node:fs'

/** Version of the package. This module is two folders below its root, in the source and in the build. */
export function version(): string {
  const manifest = new URL('../../package.json', import.meta.url)
  return (JSON.parse(readFileSync(manifest, 'utf8')) as { version: string }).version
}
