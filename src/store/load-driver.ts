import { describeUnsupportedVersion, type SupportedPackage } from '../config/supported-packages.js'
import { failureMessage, TrackerError } from '../model/errors.js'

/**
 * Loads an optional package that the host installs. A missing or unsupported package throws an error with the install
 * command.
 */
export async function loadDriver<Module>(name: SupportedPackage, database: string): Promise<Module> {
  assertSupportedVersion(name, database)
  try {
    const loaded = (await import(name)) as Module & { default?: Module }
    return loaded.default ?? loaded
  } catch (cause) {
    throw driverError(name, { database, cause })
  }
}

/** Throws if the installed version of the package is too old. */
export function assertSupportedVersion(name: SupportedPackage, database: string): void {
  const problem = describeUnsupportedVersion(name)
  if (problem !== null) throw new TrackerError('driver_missing', `${database}: ${problem}`)
}

interface DriverFailure {
  /** Feature that needs the package. */
  database: string
  cause: unknown
  /** Alternative to installing the package. */
  alternative?: string
}

/** Folder in which npx installs a command that is not in the project. It finds no packages of the project. */
const NPX_FOLDER = '/_npx/'

/** Explains why a package cannot be loaded, and how to install it. */
export function driverError(name: SupportedPackage, { database, cause, alternative }: DriverFailure): TrackerError {
  const packages = import.meta.url.includes(NPX_FOLDER) ? `faultboard ${name}` : name
  const solution = `Run  npm install ${packages}${alternative === undefined ? '' : `  or ${alternative}`}`
  const problem = isMissing(name, cause) ? 'is not installed' : `cannot be loaded (${failureMessage(cause)})`
  const message = `${database} needs the package ${name}, which ${problem}. ${solution}`
  return new TrackerError('driver_missing', message, { cause })
}

/** Returns true if the package itself is missing. An installed package may lack a file, such as its native binary. */
function isMissing(name: string, cause: unknown): boolean {
  const { code, message } = cause as { code?: unknown; message?: unknown }
  return /MODULE_NOT_FOUND$/.test(String(code)) && String(message).includes(`'${name}'`)
}

/** Masks the password of an address, in the user part and in query parameters. */
export function maskPassword(address: string): string {
  const [, scheme = '', rest = '', query = ''] = /^([a-z]+:\/\/)?([^?#]*)(.*)$/is.exec(address) ?? []
  // An unencoded password may contain @ or a slash, so the last @ ends it.
  const at = rest.lastIndexOf('@')
  const user = at < 0 ? '' : `${rest.slice(0, at).replace(/:.*$/s, ':***')}@`
  return `${scheme}${user}${rest.slice(at + 1)}${query.replace(/=[^&#]*/g, '=***')}`
}
