import { runInThisContext } from 'node:vm'
import { assertSupportedVersion, driverError } from '../load-driver.js'
import type { SqliteHandle } from './sqlite-file.js'

export interface SqliteLibrary {
  DatabaseSync: new (file: string) => SqliteHandle
}

/** Loads `node:sqlite`, or on older versions of Node.js a package with the same interface, which the host installs. */
export async function loadSqlite(): Promise<SqliteLibrary> {
  return builtInSqlite() ?? loadPackage()
}

let builtIn: SqliteLibrary | null | undefined

/** Returns `node:sqlite`, or null if it is missing, disabled by a flag, or older than Node.js 22.16. */
export function builtInSqlite(): SqliteLibrary | null {
  if (builtIn === undefined) builtIn = loadBuiltIn()
  return builtIn
}

interface BuiltInModule extends SqliteLibrary {
  StatementSync: { prototype: { columns?: unknown } }
}

function loadBuiltIn(): SqliteLibrary | null {
  const library = withoutSqliteWarning(() => process.getBuiltinModule?.('node:sqlite')) as BuiltInModule | undefined
  // Added in Node.js 22.16, together with `isTransaction` and `location`.
  return typeof library?.StatementSync.prototype.columns === 'function' ? library : null
}

/**
 * Suppresses the warning of Node.js 22 that SQLite is experimental, which would appear on the host's standard error.
 * Node.js calls `emitWarning` while it loads the module, so the replacement ends with the synchronous call. Other
 * warnings are forwarded.
 */
function withoutSqliteWarning<Result>(load: () => Result): Result {
  // In Jest, `process` is a copy. Node.js calls the functions of the main context.
  const actual = runInThisContext('process') as NodeJS.Process
  const { emitWarning } = actual
  const forwardOthers = (...args: unknown[]) => {
    if (!isSqliteWarning(args)) Reflect.apply(emitWarning, actual, args)
  }
  try {
    // Unlike an assignment, does not throw if the host has frozen `process`.
    Reflect.set(actual, 'emitWarning', forwardOthers)
    return load()
  } finally {
    Reflect.set(actual, 'emitWarning', emitWarning)
  }
}

function isSqliteWarning([message, type]: unknown[]): boolean {
  return type === 'ExperimentalWarning' && String(message).startsWith('SQLite ')
}

const PACKAGE = '@photostructure/sqlite'

async function loadPackage(): Promise<SqliteLibrary> {
  const database = `SQLite on Node.js ${process.versions.node}`
  assertSupportedVersion(PACKAGE, database)
  try {
    // A literal name, so that Next.js and Nitro copy the package. In `try`, bundlers accept that it is not installed.
    return (await import('@photostructure/sqlite')) as unknown as SqliteLibrary
  } catch (cause) {
    throw driverError(PACKAGE, { database, cause, alternative: 'use Node.js 22.16 or later' })
  }
}
