import type { Context } from '../../context.js'
import { parseFrame } from '../../model/stacks/backtrace.js'
import { type FrameSource, MAX_CONTEXT_LINES } from '../../model/stacks/frame-source.js'
import { KeptSources } from './kept-sources.js'
import { unpackText } from './packed-text.js'
import { ReadBudget } from './read-budget.js'

const REMEMBERED = 2000

/** Looks up source lines around frames that a stored map has mapped. */
export class StoredSources {
  readonly #context: Context
  readonly #budget: ReadBudget
  readonly #found = new Map<string, FrameSource | null>()
  /** Sources of the last map: frames of one error mostly belong to one script. */
  #last: { map_id: number; sources: Promise<KeptSources | null> } | null = null

  constructor(context: Context) {
    this.#context = context
    this.#budget = new ReadBudget(context)
  }

  /** Source lines around a mapped frame; null if the upload contained no sources. */
  async around(frame: string, map_id: number): Promise<FrameSource | null> {
    const key = `${map_id}:${frame}`
    const known = this.#found.get(key)
    if (known !== undefined) return known
    const sources = await this.#sourcesOf(map_id)
    if (sources === 'too_much') return null
    const found = this.#excerpt(frame, sources)
    if (this.#found.size >= REMEMBERED) this.#found.clear()
    this.#found.set(key, found)
    return found
  }

  #excerpt(frame: string, sources: KeptSources | null): FrameSource | null {
    const { file, line_number } = parseFrame(frame, '')
    if (!sources || file === null || line_number === null) return null
    const around = Math.min(MAX_CONTEXT_LINES, this.#context.config.source_code_context_lines)
    const excerpt = sources.excerpt(file, line_number, around)
    return excerpt && { frame, ...excerpt }
  }

  async #sourcesOf(map_id: number): Promise<KeptSources | null | 'too_much'> {
    if (this.#last?.map_id === map_id) return this.#last.sources
    if (!this.#budget.take(0)) return 'too_much'
    const sources = this.#read(map_id)
    this.#last = { map_id, sources }
    sources.catch(() => {
      if (this.#last?.sources === sources) this.#last = null
    })
    return sources
  }

  async #read(map_id: number): Promise<KeptSources | null> {
    const { database, config } = this.#context
    const row = await database.read
      .selectFrom('faultboard_source_maps')
      .select('packed_sources')
      .where('id', '=', map_id)
      .executeTakeFirst()
    if (!row?.packed_sources) return null
    const kept = await unpackText(row.packed_sources, config.source_map_max_bytes)
    this.#budget.take(kept.length)
    return new KeptSources(kept)
  }
}
