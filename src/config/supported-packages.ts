import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'

/**
 * Oldest supported versions of the packages that a host may install. package.json accepts any version as an optional
 * peer. With a range, npm would reject other versions, even of packages that Faultboard never uses.
 */
export const OLDEST_SUPPORTED = {
  '@nestjs/core': '11.0.0',
  '@photostructure/sqlite': '1.2.1',
  bullmq: '5.0.0',
  express: '4.16.0',
  fastify: '4.0.0',
  h3: '2.0.0',
  hono: '4.0.0',
  ioredis: '5.4.0',
  koa: '2.0.0',
  mysql2: '3.11.0',
  next: '15.0.0',
  nitropack: '2.9.0',
  nodemailer: '6.9.0',
  nuxt: '3.0.0',
  pg: '8.11.0',
  'pg-boss': '10.0.0',
} as const

export type SupportedPackage = keyof typeof OLDEST_SUPPORTED

/** First newer versions that are not supported. */
const FIRST_UNSUPPORTED: Partial<Record<SupportedPackage, string>> = { 'pg-boss': '11.0.0' }

/**
 * Explains that the installed version of a package is not supported. Null for a supported or unknown version. A
 * monorepo can have several versions, of which at least one must be supported.
 */
export function describeUnsupportedVersion(name: SupportedPackage): string | null {
  const oldest = OLDEST_SUPPORTED[name]
  const limit = FIRST_UNSUPPORTED[name]
  const installed: string[] = []
  for (const version of installedVersions(name)) {
    if (!isOlder(version, oldest) && (!limit || isOlder(version, limit))) return null
    installed.push(version)
  }
  if (installed.length === 0) return null
  const range = limit ? `${oldest} and later, before ${limit}` : `${oldest} and later`
  return `${name} ${installed[0]} is installed, but Faultboard supports ${name} ${range}. ${installCommand(name, oldest)}`
}

/** Oldest versions that publish tracing channels, from which breadcrumbs are read. */
const OLDEST_TRACED = { ioredis: '5.11.0', mysql2: '3.20.0', redis: '5.12.0' } as const

/**
 * Explains that no installed version of these packages publishes tracing channels. Null if the versions are unknown.
 */
export function describeUntracedVersion(names: readonly (keyof typeof OLDEST_TRACED)[]): string | null {
  const installed = names.flatMap((name) => [...installedVersions(name)].map((version) => ({ name, version })))
  const [first] = installed
  if (!first || installed.some(({ name, version }) => !isOlder(version, OLDEST_TRACED[name]))) return null
  const oldest = OLDEST_TRACED[first.name]
  return `${first.name} ${first.version} is installed, but its breadcrumbs require ${first.name} ${oldest} or later. ${installCommand(first.name, oldest)}`
}

function installCommand(name: string, oldest: string): string {
  return `Run npm install ${name}@${Number.parseInt(oldest, 10)}`
}

/** Version of a package that the host installed. Null if the package cannot be found, as in a bundle. */
export function installedVersion(name: string): string | null {
  const [version] = installedVersions(name)
  return version ?? null
}

/** Versions that the main script, the working directory and Faultboard resolve. */
function* installedVersions(name: string): Iterable<string> {
  for (const start of [process.argv[1], join(process.cwd(), 'package.json'), import.meta.url]) {
    const version = versionFrom(start, name)
    if (version !== null) yield version
  }
}

function versionFrom(start: string | undefined, name: string): string | null {
  try {
    // The search ignores `exports`, which may hide package.json.
    const folders = createRequire(start as string).resolve.paths(name) ?? []
    for (const folder of folders) {
      const { version } = readPackage(join(folder, name, 'package.json'))
      if (version !== undefined) return version
    }
  } catch {
    // There is no main script, or no valid import.meta.url, as in a bundle.
  }
  return null
}

function readPackage(file: string): { version?: string } {
  try {
    return JSON.parse(readFileSync(file, 'utf8')) as { version?: string }
  } catch {
    return {}
  }
}

/** Compares major, minor and patch. Treats a prerelease as its release. */
function isOlder(version: string, oldest: string): boolean {
  const numbers = (text: string) => text.split(/[-+]/, 1)[0]?.split('.').map(Number) ?? []
  const wanted = numbers(oldest)
  const found = numbers(version)
  const position = wanted.findIndex((number, i) => found[i] !== number)
  return position >= 0 && (found[position] ?? 0) < (wanted[position] ?? 0)
}
