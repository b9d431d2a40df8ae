import type { Context } from '../context.js'
import { readSource } from './source-files.js'
import { shownLine } from './source-line.js'

/** Lines of a file around the one that is asked for, as the file is now. */
export interface SourceLines {
  file: string
  /** The line that is asked for. */
  line_number: number
  /** The number of the first of `lines`. */
  first: number
  lines: string[]
}

export interface SourcePlace {
  /** As in a frame: relative to project_root, or absolute. */
  file: string | null
  line_number: number | null
  column?: number | null
}

/** Only the first frames are worth their disk reads, and a disk that hangs must not hold up the page. */
const MOST_PLACES = 10
const TIME_LIMIT_MS = 250
const REMEMBERED = 500

/**
 * The source around each of these frames, side by side, or null: for files outside of project_root, secret, huge,
 * binary or missing ones, beyond the first few frames, too late, and whatever else may go wrong. It never throws.
 */
export async function sourcesOf(
  context: Context,
  places: readonly SourcePlace[],
): Promise<readonly (SourceLines | null)[]> {
  const found: (SourceLines | null)[] = places.map(() => null)
  const reading = places.slice(0, MOST_PLACES).map(async (place, i) => {
    found[i] = await remembered(context, place)
  })
  await settledInTime(reading)
  return [...found]
}

async function settledInTime(work: readonly Promise<void>[]): Promise<void> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, TIME_LIMIT_MS)
    timer.unref()
  })
  await Promise.race([Promise.allSettled(work), late])
  clearTimeout(timer)
}

interface Memory {
  until: number
  source: SourceLines
}

/** One memory per tracker: their roots and clocks are their own. */
const memories = new WeakMap<Context, Map<string, Memory>>()

async function remembered(context: Context, place: SourcePlace): Promise<SourceLines | null> {
  const { file, line_number, column } = place
  if (file === null || line_number === null || !Number.isSafeInteger(line_number) || line_number < 1) return null
  const memory = memories.get(context) ?? new Map<string, Memory>()
  memories.set(context, memory)
  const key = `${file}\n${line_number}\n${column ?? ''}`
  const known = memory.get(key)
  if (known && known.until > context.now()) return known.source
  memory.delete(key)
  const source = await read(context, { file, line_number, column: column ?? null })
  const { source_code_cache_ttl } = context.config
  if (source && source_code_cache_ttl > 0) {
    for (const oldest of memory.keys()) {
      if (memory.size < REMEMBERED) break
      memory.delete(oldest)
    }
    memory.set(key, { until: context.now() + source_code_cache_ttl * 1000, source })
  }
  return source
}

async function read(
  { config, redactor }: Context,
  { file, line_number, column }: { file: string; line_number: number; column: number | null },
): Promise<SourceLines | null> {
  const text = config.project_root === null ? null : await readSource(config.project_root, file)
  if (text === null) return null
  const all = text.split(/\r\n|[\n\r\u2028\u2029]/)
  if (line_number > all.length) return null
  const around = config.source_code_context_lines
  const first = Math.max(1, line_number - around)
  const lines = all
    .slice(first - 1, line_number + around)
    .map((line, i) => shownLine(line, first + i === line_number ? column : null, redactor))
  return { file, line_number, first, lines }
}
