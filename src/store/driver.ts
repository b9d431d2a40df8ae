import { TrackerError } from '../model/errors.js'

/** A database driver is the host's to install; a missing one is said in a sentence that can be acted on. */
export async function loadDriver<Module>(name: string, database: string): Promise<Module> {
  try {
    const loaded = (await import(name)) as Module & { default?: Module }
    return loaded.default ?? loaded
  } catch (cause) {
    throw new TrackerError(
      'driver_missing',
      `${database} needs the package ${name}, which is not installed: run  npm install ${name}`,
      { cause },
    )
  }
}

/** An address without its password, wherever it stands in it. */
export function maskedAddress(address: string): string {
  const [, scheme = '', rest = '', query = ''] = /^([a-z]+:\/\/)?([^?#]*)(.*)$/is.exec(address) ?? []
  // A password may itself hold an @ or a slash that nobody encoded: only the last @ ends it.
  const at = rest.lastIndexOf('@')
  const user = at < 0 ? '' : `${rest.slice(0, at).replace(/:.*$/s, ':***')}@`
  return `${scheme}${user}${rest.slice(at + 1)}${query.replace(/=[^&#]*/g, '=***')}`
}
