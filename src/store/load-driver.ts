import { type SupportedPackage, unsupportedVersion } from '../config/supported-packages.js'
import { TrackerError } from '../model/errors.js'

/**
 * Loads an optional package that the host installs. A missing or unsupported package throws an error with the install
 * command.
 */
export async function loadDriver<Module>(name: SupportedPackage, database: string): Promise<Module> {
  const problem = unsupportedVersion(name)
  if (problem !== null) throw new TrackerError('driver_missing', `${database}: ${problem}`)
  try {
    const loaded = (await import(name)) as Module & { default?: Module }
    return loaded.default ?? loaded
  } catch (cause) {
    throw new TrackerError(
      'driver_missing',
      `${database} needs the package ${name}, which is not installed. Run  npm install ${name}`,
      { cause },
    )
  }
}

/** Masks the password of an address, in the user part and in query parameters. */
export function maskPassword(address: string): string {
  const [, scheme = '', rest = '', query = ''] = /^([a-z]+:\/\/)?([^?#]*)(.*)$/is.exec(address) ?? []
  // An unencoded password may contain @ or a slash, so the last @ ends it.
  const at = rest.lastIndexOf('@')
  const user = at < 0 ? '' : `${rest.slice(0, at).replace(/:.*$/s, ':***')}@`
  return `${scheme}${user}${rest.slice(at + 1)}${query.replace(/=[^&#]*/g, '=***')}`
}
