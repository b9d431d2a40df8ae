import { basename, dirname } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { findProject } from '../../config/project.js'

/** Limits the memory if a host keeps creating scripts under new names. */
const MAX_SCRIPTS = 20_000

/** URLs of the host's own scripts by script id of the debugger. Excludes libraries, Node.js and this package. */
export class HostScripts {
  readonly #urls = new Map<string, string>()
  readonly #packageFolders = packageFolders()

  add(scriptId: string, url: string): void {
    if (!this.#isHostScript(url)) return
    for (const oldest of this.#urls.keys()) {
      if (this.#urls.size < MAX_SCRIPTS) break
      this.#urls.delete(oldest)
    }
    this.#urls.set(scriptId, url)
  }

  urlOf(scriptId: string): string | undefined {
    return this.#urls.get(scriptId)
  }

  #isHostScript(url: string): boolean {
    if (!/^(?:file:\/\/|\/|[A-Za-z]:[\\/])/.test(url) || /[\\/]node_modules[\\/]/.test(url)) return false
    return this.#packageFolders === null || !this.#packageFolders.some((folder) => url.startsWith(folder))
  }
}

/** Returns the code folder of this package as path and URL, or null if a bundler merged it into the host's files. */
function packageFolders(): readonly string[] | null {
  const file = fileURLToPath(import.meta.url)
  const { root, name } = findProject(dirname(file))
  if (name !== 'faultboard') return null
  const folder = `${root}/${basename(file.slice(root.length + 1).split(/[\\/]/)[0] ?? '')}/`
  return [folder, pathToFileURL(folder).href]
}
