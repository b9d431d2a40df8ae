import type { Context } from '../../../context.js'
import { parseFrame } from '../../../model/stacks/backtrace.js'
import { type FrameSource, MAX_CONTEXT_LINES } from '../../../model/stacks/frame-source.js'
import { unpackText } from './packed-text.js'
import { ReadBudget } from './read-budget.js'
import { SourceBundle } from './source-bundle.js'

const MAX_CACHED_EXCERPTS = 2000

/** Looks up source lines around frames that were mapped by a stored map. */
export class StoredSources {
  readonly #context: Context
  readonly #budget: ReadBudget
  readonly #excerpts = new Map<string, FrameSource | null>()
  /** Sources of the last map, because most frames of an error belong to one script. */
  #lastMap: { map_id: number; sources: Promise<SourceBundle | null> } | null = null

  constructor(context: Context) {
    this.#context = context
    this.#budget = new ReadBudget(context)
  }

  /** Source lines around a mapped frame; null if the upload contained no sources. */
  async around(frame: string, map_id: number): Promise<FrameSource | null> {
    const key = `${map_id}:${frame}`
    const cached = this.#excerpts.get(key)
    if (cached !== undefined) return cached
    const sources = await this.#loadSources(map_id)
    if (sources === 'too_much') return null
    const found = this.#excerpt(frame, sources)
    if (this.#excerpts.size >= MAX_CACHED_EXCERPTS) this.#excerpts.clear()
    this.#excerpts.set(key, found)
    return found
  }

  #excerpt(frame: string, sources: SourceBundle | null): FrameSource | null {
    const { file, line_number } = parseFrame(frame, '')
    if (!sources || file === null || line_number === null) return null
    const contextLines = Math.min(MAX_CONTEXT_LINES, this.#context.config.source_code_context_lines)
    const excerpt = sources.excerpt(file, line_number, contextLines)
    return excerpt && { frame, ...excerpt }
  }

  async #loadSources(map_id: number): Promise<SourceBundle | null | 'too_much'> {
    if (this.#lastMap?.map_id === map_id) return this.#lastMap.sources
    if (!this.#budget.take(0)) return 'too_much'
    const sources = this.#read(map_id)
    this.#lastMap = { map_id, sources }
    sources.catch(() => {
      if (this.#lastMap?.sources === sources) this.#lastMap = null
    })
    return sources
  }

  async #read(map_id: number): Promise<SourceBundle | null> {
    const { database, config } = this.#context
    const row = await database.read
      .selectFrom('faultboard_source_maps')
      .select('packed_sources')
      .where('id', '=', map_id)
      .executeTakeFirst()
    if (!row?.packed_sources) return null
    const bundle = await unpackText(row.packed_sources, config.source_map_max_bytes)
    this.#budget.take(bundle.length)
    return new SourceBundle(bundle)
  }
}
