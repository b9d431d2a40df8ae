import { readOptions } from '../../config/options.js'
import type { Context } from '../../context.js'
import { displayLine } from '../../model/stacks/source-line.js'
import { type FrameFile, frameFile } from './frame-file.js'
import { isCommitName, textInCommit } from './git/commit-files.js'
import { settledInTime } from './in-time.js'
import { sourceOptions } from './options.js'
import { locateSource, readSource } from './source-files.js'
import { highlighted, plainParts, type SourcePart } from './source-highlight.js'

/** Lines of a file around the one that is asked for. */
export interface SourceLines {
  file: string
  /** The line that is asked for. */
  line_number: number
  /** The number of the first of `lines`. */
  first: number
  lines: string[]
  /** The same lines in their coloured pieces. */
  parts: readonly (readonly SourcePart[])[]
  /** The commit whose file it is; null is the file as it lies here now. */
  commit: string | null
}

export interface SourcePlace {
  /** As in a frame: relative to project_root, or absolute. */
  file: string | null
  line_number: number | null
  column?: number | null
}

/** A place that could be in a file. */
export interface SourceSpot {
  file: string
  line_number: number
  column: number | null
}

/** Only the first frames are worth their disk reads, and a disk that hangs must not hold up the page. */
export const MOST_PLACES = 10
const TIME_LIMIT_MS = 400
/** So long the page waits for the file as it was, which is else shown as it is, and for its colours. */
const GIT_LIMIT_MS = 100
export const COLOURS_LIMIT_MS = 100
const REMEMBERED_CHARACTERS = 8_000_000
/** Around the one frame that was asked to show more. */
const WIDE_LINES = 50

/**
 * The source around each of these frames, side by side, or null: for files outside of project_root, secret, huge,
 * binary or missing ones, beyond the first few frames, too late, and whatever else may go wrong. It never throws.
 * With `git_sha`, the files are those of that commit where git is turned on and knows it.
 */
export async function sourcesOf(
  context: Context,
  places: readonly SourcePlace[],
  { git_sha = null, wide = -1 }: { git_sha?: string | null; wide?: number } = {},
): Promise<readonly (SourceLines | null)[]> {
  const found: (SourceLines | null)[] = places.map(() => null)
  const reading = places.slice(0, MOST_PLACES).map(async (place, i) => {
    const around = i === wide ? WIDE_LINES : context.config.source_code_context_lines
    const spot = spotOf(place)
    found[i] = spot && (await remembered(context, spot, { git_sha, around }))
  })
  await settledInTime(reading, TIME_LIMIT_MS)
  return [...found]
}

export function spotOf({ file, line_number, column = null }: SourcePlace): SourceSpot | null {
  if (file === null || line_number === null || !Number.isSafeInteger(line_number) || line_number < 1) return null
  return { file, line_number, column }
}

interface Wanted {
  git_sha: string | null
  around: number
}

/** As text: short, and no part of it keeps the whole file in memory. */
interface Kept {
  until: number
  source: string
}

/** One memory per tracker: their roots and clocks are their own. */
const memories = new WeakMap<Context, { kept: Map<string, Kept>; characters: number }>()

async function remembered(context: Context, spot: SourceSpot, wanted: Wanted): Promise<SourceLines | null> {
  const memory = memories.get(context) ?? { kept: new Map<string, Kept>(), characters: 0 }
  memories.set(context, memory)
  const forget = (key: string) => {
    memory.characters -= memory.kept.get(key)?.source.length ?? 0
    memory.kept.delete(key)
  }
  const key = JSON.stringify([spot, wanted])
  const known = memory.kept.get(key)
  if (known && known.until > context.now()) return JSON.parse(known.source) as SourceLines
  const { source, is_final } = await read(context, spot, wanted)
  forget(key)
  const { source_code_cache_ttl } = readOptions(context.config, sourceOptions)
  if (source && is_final && source_code_cache_ttl > 0) {
    const text = JSON.stringify(source)
    memory.kept.set(key, { until: context.now() + source_code_cache_ttl * 1000, source: text })
    memory.characters += text.length
    for (const oldest of memory.kept.keys()) {
      if (memory.characters <= REMEMBERED_CHARACTERS) break
      forget(oldest)
    }
  }
  return source
}

/** Not final is what stands in for the file of a commit that git has not given yet, or has no colours yet. */
async function read(
  context: Context,
  { file, line_number, column }: SourceSpot,
  { git_sha, around }: Wanted,
): Promise<{ source: SourceLines | null; is_final: boolean }> {
  const { text, commit, is_final } = await textOf(context, file, git_sha)
  const all = text === null ? [] : linesOf(text)
  if (line_number > all.length) return { source: null, is_final }
  const { redactor } = context
  const first = Math.max(1, line_number - around)
  const lines = all
    .slice(first - 1, line_number + around)
    .map((line, i) => displayLine(line, first + i === line_number ? column : null, redactor))
  const colouring = highlighted(lines, { file, before: all.slice(0, first - 1).join('\n') })
  const is_coloured = await settledInTime([colouring], COLOURS_LIMIT_MS)
  const parts = is_coloured ? await colouring : plainParts(lines)
  return { source: { file, line_number, first, lines, parts, commit }, is_final: is_final && is_coloured }
}

/** Lines as the engine counts them. */
export function linesOf(text: string): string[] {
  return text.split(/\r\n|[\n\r\u2028\u2029]/)
}

interface Version {
  text: string | null
  commit: string | null
  is_final: boolean
}

async function textOf(context: Context, file: string, git_sha: string | null): Promise<Version> {
  const { project_root } = context.config
  const { enable_git_blame } = readOptions(context.config, sourceOptions)
  const asks_git = enable_git_blame && isCommitName(git_sha)
  const past = asks_git ? frameFile(context, { file, git_sha }).then(pastText) : Promise.resolve(null)
  const is_final = await settledInTime([past], GIT_LIMIT_MS)
  const then = is_final ? await past : null
  if (then) return { ...then, is_final }
  const path = await locateSource(project_root, file)
  const now = path && (await readSource(path))
  return { text: now ? now.text : null, commit: null, is_final }
}

async function pastText(found: FrameFile | null): Promise<{ text: string; commit: string } | null> {
  const { git } = found ?? {}
  if (!git?.past || git.commit === null) return null
  const text = await textInCommit(git.repository, git.past).catch(() => null)
  return text === null ? null : { text, commit: git.commit }
}
