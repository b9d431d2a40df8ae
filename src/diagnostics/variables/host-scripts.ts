import { OWN_FOLDERS } from '../../config/own-modules.js'

/** Limits the memory if a host keeps creating scripts under new names. */
const MAX_SCRIPTS = 20_000

/** URLs of the host's own scripts by script id of the debugger. Excludes libraries, Node.js and this package. */
export class HostScripts {
  readonly #urls = new Map<string, string>()

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
    return !OWN_FOLDERS?.some((folder) => url.startsWith(folder))
  }
}
