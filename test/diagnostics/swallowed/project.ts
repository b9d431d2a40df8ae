import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { cpSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { text } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'
import type { Database } from '../../../src/store/database.js'
import type { TrackerStorage } from '../../support/tracker.js'
import { temporaryFolder, withDatabase } from '../../support/tracker.js'

const hosts = fileURLToPath(new URL('hosts/', import.meta.url))
const dist = new URL('../../../dist/', import.meta.url)
export const REGISTER = new URL('register.js', dist).href

/** Creates the project of a host in a temporary folder, with a library. */
export function project(files: Readonly<Record<string, string>>): string {
  const folder = temporaryFolder()
  cpSync(join(hosts, 'library'), join(folder, 'node_modules/library'), { recursive: true })
  for (const [name, content] of Object.entries({ 'package.json': '{"name":"shop"}', ...files })) {
    mkdirSync(dirname(join(folder, name)), { recursive: true })
    writeFileSync(join(folder, name), content)
  }
  return folder
}

export function hostFile(name: string): string {
  return readFileSync(join(hosts, name), 'utf8')
}

export interface Run {
  node: string
  folder: string
  args: readonly string[]
  storage: TrackerStorage
  env?: Readonly<Record<string, string>>
  detect?: boolean
}

/** Runs a host until it exits. */
export async function run({ node, folder, args, storage, env = {}, detect = true }: Run) {
  const child = spawn(node, args, {
    cwd: folder,
    env: {
      PATH: process.env.PATH,
      FAULTBOARD_DATABASE: storage.url,
      FAULTBOARD_SPOOL_PATH: storage.spool_path,
      FAULTBOARD_APPLICATION_NAME: 'shop',
      FAULTBOARD_DASHBOARD_USERNAME: 'admin',
      FAULTBOARD_DASHBOARD_PASSWORD: 'correct horse',
      FAULTBOARD_TEST_INDEX: new URL('index.js', dist).href,
      ...(detect ? { FAULTBOARD_DETECT_SWALLOWED_EXCEPTIONS: 'true' } : {}),
      ...env,
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const [stdout, stderr, [code]] = await Promise.all([text(child.stdout), text(child.stderr), once(child, 'close')])
  return { stdout, stderr, code: code as number | null }
}

export interface Counted {
  error_type: string
  raised: number
  reported: number
  /** Rescues by handler name and kind. */
  rescued: Record<string, number>
}

/** Reads the counts by raise location. `nameOf` replaces locations by readable names. */
export function readCounts(url: string, nameOf: (location: string) => string): Promise<Record<string, Counted>> {
  return withDatabase(url, async (database) => sumRows(database, nameOf))
}

async function sumRows({ read }: Database, nameOf: (location: string) => string) {
  const counted: Record<string, Counted> = {}
  for (const row of await read.selectFrom('faultboard_swallowed_exceptions').selectAll().execute()) {
    const name = nameOf(row.raise_location)
    counted[name] ??= { error_type: row.error_type, raised: 0, reported: 0, rescued: {} }
    const sums = counted[name]
    sums.raised += row.raise_count
    sums.reported += row.reported_count ?? 0
    if (row.rescue_count === 0) continue
    const handler = `${nameOf(row.rescue_location)} ${row.handler_kind}`
    sums.rescued[handler] = (sums.rescued[handler] ?? 0) + row.rescue_count
  }
  return counted
}

/** Names locations by the `@raise` and `@rescue` comments of a file. A comment on its own line names the line before. */
export function namesIn(file: string, code: string): (location: string) => string {
  const names = new Map<string, string>()
  for (const [i, line] of code.split('\n').entries()) {
    const [, name] = /@(?:raise|rescue) (\w+)/.exec(line) ?? []
    if (name) names.set(`${file}:${line.trim().startsWith('//') ? i : i + 1}`, name)
  }
  return (location) => {
    const [, prefix = '', line = ''] = /^(~?)(.*?)(?::\d+)?$/.exec(location) ?? []
    return `${prefix}${names.get(line) ?? location}`
  }
}

/** Reads the counts of the errors raised in one file, with the names in its code. */
export async function readFileCounts(url: string, file: string, code: string): Promise<Record<string, Counted>> {
  const nameOf = namesIn(file, code)
  const counts = await readCounts(url, (location) =>
    location.replace('~', '').startsWith(`${file}:`) ? nameOf(location) : '',
  )
  delete counts['']
  return counts
}
