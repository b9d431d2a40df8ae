import type { Context } from '../../../context.js'
import { parseFrame } from '../../../model/stacks/backtrace.js'
import { type FrameSource, MAX_FRAME_SOURCES } from '../../../model/stacks/frame-source.js'
import { MINUTE } from '../../../model/time.js'
import { ParsedMap } from '../parsed-map.js'
import { unpackText } from './packed-text.js'
import { ReadBudget } from './read-budget.js'
import { type ScriptPosition, StoredMap, VIRTUAL_ROOT } from './stored-map.js'
import { type StoredName, StoredNames } from './stored-names.js'
import { StoredSources } from './stored-sources.js'

/** Identifies the maps that belong to a stack. */
export interface StackOrigin {
  /** Possible names of the release, most likely first. */
  releases: readonly string[]
  /** Debug ids that a bundler wrote into scripts, by script URL. */
  debug_ids?: Readonly<Record<string, string>> | undefined
}

/** Remaining read budget and mapped frames of one error, causes included. */
export interface MappingSession {
  /** Ids of the maps used so far. */
  readonly maps: Set<number>
  bytes: number
  /** Id of the map of each mapped frame. */
  readonly mapped: Map<string, number>
}

/** Refresh interval of the map names. A query per error would be too expensive. */
const NAMES_TTL_MS = MINUTE
const MAX_NAMES = 5000
const MAX_MAPS_PER_ERROR = 10
const MAX_CACHED_LINES = 5000

/**
 * Maps stacks of scripts that run elsewhere, using the maps uploaded for their release. Nothing is fetched, and maps
 * never leave the server.
 */
export class StoredMaps {
  readonly #context: Context
  #names: { loadedAt: number; names: Promise<StoredNames> } | null = null
  /** In order of last use. */
  readonly #maps = new Map<number, Promise<StoredMap | null>>()
  readonly #sizes = new Map<number, number>()
  readonly #lines = new Map<string, string>()
  readonly #budget: ReadBudget
  readonly #sources: StoredSources

  constructor(context: Context) {
    this.#context = context
    this.#budget = new ReadBudget(context)
    this.#sources = new StoredSources(context)
  }

  startSession(): MappingSession {
    return { maps: new Set(), bytes: this.#context.config.source_map_max_bytes, mapped: new Map() }
  }

  /** Maps lines to the original source. Lines without a map stay unchanged. */
  async original(lines: readonly string[], origin: StackOrigin, session: MappingSession): Promise<readonly string[]> {
    const names = await this.#currentNames()
    if (names.isEmpty) return lines
    const mapped: string[] = []
    for (const line of lines) {
      const { file, line_number, column, function_name } = parseFrame(line, '')
      const storedName = file === null ? null : names.find(origin.releases, file, findDebugId(origin.debug_ids, file))
      if (!storedName || line_number === null || column === null || !fitsReadBudget(session, storedName))
        mapped.push(line)
      else {
        const original = await this.#originalLine(storedName, line, { line: line_number, column, name: function_name })
        if (original !== line) session.mapped.set(original, storedName.id)
        mapped.push(original)
      }
    }
    return mapped
  }

  /** Source lines around the mapped frames, newest calls first. */
  async frameSources({ mapped }: MappingSession): Promise<FrameSource[]> {
    const sources: FrameSource[] = []
    for (const [frame, map_id] of mapped) {
      if (sources.length >= MAX_FRAME_SOURCES) break
      const source = await this.#sources.around(frame, map_id)
      if (source) sources.push(source)
    }
    return sources
  }

  async #originalLine(storedName: StoredName, line: string, scriptPosition: ScriptPosition): Promise<string> {
    const key = `${storedName.id}:${line}`
    const cached = this.#lines.get(key)
    if (cached !== undefined) return cached
    if (!this.#maps.has(storedName.id) && !this.#budget.take(storedName.map_bytes)) {
      this.#context.counters.add('source_map_skipped')
      return line
    }
    const mapped = (await this.#loadMap(storedName))?.originalLine(scriptPosition) ?? line
    if (this.#lines.size >= MAX_CACHED_LINES) this.#lines.clear()
    this.#lines.set(key, mapped)
    return mapped
  }

  #currentNames(): Promise<StoredNames> {
    const now = this.#context.now()
    if (this.#names && now - this.#names.loadedAt < NAMES_TTL_MS && now >= this.#names.loadedAt)
      return this.#names.names
    const names = this.#readNames()
    this.#names = { loadedAt: now, names }
    // Drops the failed query, so that the next error retries it.
    names.catch(() => {
      this.#names = null
    })
    return names
  }

  async #readNames(): Promise<StoredNames> {
    const { database, config, ready } = this.#context
    await ready()
    const rows = await database.read
      .selectFrom('faultboard_source_maps as map')
      .innerJoin('faultboard_applications as application', 'application.id', 'map.application_id')
      .select(['map.id', 'map.release_name', 'map.file_name', 'map.debug_id', 'map.map_bytes'])
      .where('application.name', '=', config.application_name)
      .orderBy('map.id', 'desc')
      .limit(MAX_NAMES)
      .execute()
    return new StoredNames(rows)
  }

  #loadMap({ id }: StoredName): Promise<StoredMap | null> {
    const cached = this.#maps.get(id)
    const map = cached ?? this.#read(id)
    this.#maps.delete(id)
    this.#maps.set(id, map)
    if (!cached) {
      void map.then(
        (loaded) => this.#makeRoom(id, loaded?.bytes ?? 0),
        () => this.#forget(id),
      )
    }
    return map
  }

  async #read(id: number): Promise<StoredMap | null> {
    const { database, config } = this.#context
    const row = await database.read
      .selectFrom('faultboard_source_maps')
      .select(['folder', 'packed_map', 'packed_code'])
      .where('id', '=', id)
      .executeTakeFirst()
    if (!row) return null
    const maxBytes = config.source_map_max_bytes
    const text = await unpackText(row.packed_map, maxBytes)
    const code = row.packed_code === null ? null : (await unpackText(row.packed_code, maxBytes)).toString('utf8')
    const folder = `${VIRTUAL_ROOT}${row.folder}`
    const parsed = ParsedMap.parse({ text: text.toString('utf8'), bytes: text.length, folder }, maxBytes, VIRTUAL_ROOT)
    return parsed && new StoredMap(parsed, code)
  }

  /** Evicts maps until the cache is at most as large as the largest allowed map. Keeps the current map. */
  #makeRoom(id: number, bytes: number): void {
    this.#sizes.set(id, bytes)
    let total = [...this.#sizes.values()].reduce((sum, size) => sum + size, 0)
    for (const oldest of this.#maps.keys()) {
      if (total <= this.#context.config.source_map_max_bytes || oldest === id) return
      total -= this.#sizes.get(oldest) ?? 0
      this.#forget(oldest)
    }
  }

  #forget(id: number): void {
    this.#maps.delete(id)
    this.#sizes.delete(id)
  }
}

/** Depends only on the files of the error, so that repeats stay in one group. */
function fitsReadBudget(session: MappingSession, { id, map_bytes }: StoredName): boolean {
  const { maps, bytes } = session
  if (maps.has(id)) return true
  if (maps.size >= MAX_MAPS_PER_ERROR || (maps.size > 0 && map_bytes > bytes)) return false
  maps.add(id)
  session.bytes -= map_bytes
  return true
}

function findDebugId(debug_ids: StackOrigin['debug_ids'], file: string): string | undefined {
  return debug_ids && Object.hasOwn(debug_ids, file) ? debug_ids[file] : undefined
}
