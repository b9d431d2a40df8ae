/** Metadata of a stored map. */
export interface StoredName {
  id: number
  release_name: string
  file_name: string
  debug_id: string | null
  map_bytes: number
}

const REMEMBERED = 2000

/** Finds the stored map of a script. */
export class StoredNames {
  readonly #releases = new Map<string, StoredName[]>()
  readonly #debug_ids = new Map<string, StoredName>()
  readonly #found = new Map<string, StoredName | null>()

  constructor(names: readonly StoredName[]) {
    for (const name of names) {
      const files = this.#releases.get(name.release_name)
      if (files) files.push(name)
      else this.#releases.set(name.release_name, [name])
      if (name.debug_id) this.#debug_ids.set(name.debug_id, name)
    }
  }

  get is_empty(): boolean {
    return this.#releases.size === 0
  }

  /** Matches by debug id, or else by release and URL. */
  find(releases: readonly string[], file: string, debug_id: string | undefined): StoredName | null {
    const known = debug_id === undefined ? undefined : this.#debug_ids.get(debug_id.toLowerCase())
    if (known) return known
    for (const release of releases) {
      const found = this.#inRelease(release, file)
      if (found) return found
    }
    return null
  }

  #inRelease(release: string, file: string): StoredName | null {
    const files = this.#releases.get(release)
    if (!files) return null
    const key = `${release}\n${file}`
    const remembered = this.#found.get(key)
    if (remembered !== undefined) return remembered
    const found = longestMatch(files, file)
    if (this.#found.size >= REMEMBERED) this.#found.clear()
    this.#found.set(key, found)
    return found
  }
}

/** A full URL must match completely. Otherwise the longest matching path suffix wins. */
function longestMatch(files: readonly StoredName[], file: string): StoredName | null {
  const path = `/${file.replace(/^[a-z][a-z\d+.-]*:\/\/[^/]*/i, '').replace(/^\/+/, '')}`
  let best: StoredName | null = null
  for (const candidate of files) {
    const { file_name } = candidate
    const fits = /^[a-z][a-z\d+.-]*:\/\//i.test(file_name) ? file === file_name : path.endsWith(`/${file_name}`)
    if (fits && file_name.length > (best?.file_name.length ?? 0)) best = candidate
  }
  return best
}
