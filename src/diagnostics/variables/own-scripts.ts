import { basename, dirname } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { findProject } from '../../config/project.js'

/** A host that keeps making scripts under new names must not fill the memory with them. */
const MOST_SCRIPTS = 20_000

/** The scripts of the host's own code by the debugger's number: not those of libraries, of Node.js or of ours. */
export class OwnScripts {
  readonly #urls = new Map<string, string>()
  readonly #ours = folderOfOurs()

  add(script_id: string, url: string): void {
    if (!this.#isHosts(url)) return
    for (const oldest of this.#urls.keys()) {
      if (this.#urls.size < MOST_SCRIPTS) break
      this.#urls.delete(oldest)
    }
    this.#urls.set(script_id, url)
  }

  urlOf(script_id: string): string | undefined {
    return this.#urls.get(script_id)
  }

  #isHosts(url: string): boolean {
    if (!/^(?:file:\/\/|\/|[A-Za-z]:[\\/])/.test(url) || /[\\/]node_modules[\\/]/.test(url)) return false
    return this.#ours === null || !this.#ours.some((folder) => url.startsWith(folder))
  }
}

/** Where our own code runs from: as a path and as an address. Null where a bundler made it part of the host's file. */
function folderOfOurs(): readonly string[] | null {
  const here = fileURLToPath(import.meta.url)
  const { root, name } = findProject(dirname(here))
  if (name !== 'faultboard') return null
  const folder = `${root}/${basename(here.slice(root.length + 1).split(/[\\/]/)[0] ?? '')}/`
  return [folder, pathToFileURL(folder).href]
}
