/** Metadata of a stored map. */
export interface StoredName {
  id: number
  release_name: string
  file_name: string
  debug_id: string | null
  map_bytes: number
}

const MAX_CACHED_MATCHES = 2000

/** Finds the stored map of a script. */
export class StoredNames {
  readonly #byRelease = new Map<string, StoredName[]>()
  readonly #byDebugId = new Map<string, StoredName>()
  readonly #matches = new Map<string, StoredName | null>()

  constructor(names: readonly StoredName[]) {
    for (const name of names) {
      const files = this.#byRelease.get(name.release_name)
      if (files) files.push(name)
      else this.#byRelease.set(name.release_name, [name])
      if (name.debug_id) this.#byDebugId.set(name.debug_id, name)
    }
  }

  get isEmpty(): boolean {
    return this.#byRelease.size === 0
  }

  /** Matches by debug id, otherwise by release and URL. */
  find(releases: readonly string[], file: string, debug_id: string | undefined): StoredName | null {
    const exactMatch = debug_id === undefined ? undefined : this.#byDebugId.get(debug_id.toLowerCase())
    if (exactMatch) return exactMatch
    for (const release of releases) {
      const found = this.#findInRelease(release, file)
      if (found) return found
    }
    return null
  }

  #findInRelease(release: string, file: string): StoredName | null {
    const files = this.#byRelease.get(release)
    if (!files) return null
    const key = `${release}\n${file}`
    const cached = this.#matches.get(key)
    if (cached !== undefined) return cached
    const found = longestMatch(files, file)
    if (this.#matches.size >= MAX_CACHED_MATCHES) this.#matches.clear()
    this.#matches.set(key, found)
    return found
  }
}

/** A full URL must match completely. Otherwise the longest matching path suffix wins. */
function longestMatch(files: readonly StoredName[], file: string): StoredName | null {
  const path = `/${file.replace(/^[a-z][a-z\d+.-]*:\/\/[^/]*/i, '').replace(/^\/+/, '')}`
  let best: StoredName | null = null
  for (const candidate of files) {
    const { file_name } = candidate
    const isMatch = /^[a-z][a-z\d+.-]*:\/\//i.test(file_name) ? file === file_name : path.endsWith(`/${file_name}`)
    if (isMatch && file_name.length > (best?.file_name.length ?? 0)) best = candidate
  }
  return best
}
