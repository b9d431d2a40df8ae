import { readOptions } from '../../config/options.js'
import type { Context } from '../../context.js'
import { displayLine } from '../../model/stacks/source-line.js'
import { allSettledWithin } from './all-settled-within.js'
import { type FrameFile, frameFile } from './frame-file.js'
import { isCommitHash, textInCommit } from './git/commit-files.js'
import { sourceOptions } from './options.js'
import { locateSource, readSource } from './source-files.js'
import { highlightLines, plainParts, type SourcePart } from './source-highlight.js'

/** Lines of a file around the line of a frame. */
export interface SourceLines {
  file: string
  /** Line of the frame. */
  line_number: number
  /** Line number of the first item of `lines`. */
  first: number
  lines: string[]
  /** Highlighted parts of each line. */
  parts: readonly (readonly SourcePart[])[]
  /** Commit of the file. Null for the current file on disk. */
  commit: string | null
}

export interface SourceReference {
  /** Path as in a frame: relative to project_root or absolute. */
  file: string | null
  line_number: number | null
  column?: number | null
}

/** Reference with a valid file and line. */
export interface SourceLocation {
  file: string
  line_number: number
  column: number | null
}

/** Limits disk reads per page. */
export const MAX_FRAMES = 10
/** Limits how long a slow disk delays the page. */
const READ_TIMEOUT_MS = 400
/** After these timeouts, the page shows the current file or plain text. */
const GIT_TIMEOUT_MS = 100
export const HIGHLIGHT_TIMEOUT_MS = 100
const MAX_CACHED_CHARACTERS = 8_000_000
/** Context lines of an expanded frame. */
const EXPANDED_LINES = 50

/**
 * Reads the source of each frame in parallel. Null for files outside project_root, secret, huge, binary or missing files,
 * for frames above the limit, and after the timeout. With `git_sha`, reads the files of that commit if git is on and
 * the commit exists. Never throws.
 */
export async function loadSources(
  context: Context,
  references: readonly SourceReference[],
  { git_sha = null, wide = -1 }: { git_sha?: string | null; wide?: number } = {},
): Promise<readonly (SourceLines | null)[]> {
  const found: (SourceLines | null)[] = references.map(() => null)
  const reads = references.slice(0, MAX_FRAMES).map(async (reference, i) => {
    const contextLines = i === wide ? EXPANDED_LINES : context.config.source_code_context_lines
    const location = toLocation(reference)
    found[i] = location && (await readCached(context, location, { git_sha, contextLines }))
  })
  await allSettledWithin(reads, READ_TIMEOUT_MS)
  return [...found]
}

export function toLocation({ file, line_number, column = null }: SourceReference): SourceLocation | null {
  if (file === null || line_number === null || !Number.isSafeInteger(line_number) || line_number < 1) return null
  return { file, line_number, column }
}

interface ReadOptions {
  git_sha: string | null
  contextLines: number
}

/** Stored as JSON, because substrings would keep the whole file in memory. */
interface CacheEntry {
  expiresAt: number
  source: string
}

/** One cache per tracker, because trackers can have different roots. */
const caches = new WeakMap<Context, { entries: Map<string, CacheEntry>; characters: number }>()

async function readCached(
  context: Context,
  location: SourceLocation,
  options: ReadOptions,
): Promise<SourceLines | null> {
  const cache = caches.get(context) ?? { entries: new Map<string, CacheEntry>(), characters: 0 }
  caches.set(context, cache)
  const evict = (key: string) => {
    cache.characters -= cache.entries.get(key)?.source.length ?? 0
    cache.entries.delete(key)
  }
  const key = JSON.stringify([location, options])
  const cached = cache.entries.get(key)
  if (cached && cached.expiresAt > context.now()) return JSON.parse(cached.source) as SourceLines
  const { source, isFinal } = await readLines(context, location, options)
  evict(key)
  const { source_code_cache_ttl } = readOptions(context.config, sourceOptions)
  if (source && isFinal && source_code_cache_ttl > 0) {
    const text = JSON.stringify(source)
    cache.entries.set(key, { expiresAt: context.now() + source_code_cache_ttl * 1000, source: text })
    cache.characters += text.length
    for (const oldest of cache.entries.keys()) {
      if (cache.characters <= MAX_CACHED_CHARACTERS) break
      evict(oldest)
    }
  }
  return source
}

/** `isFinal` is false while git or the highlighter is still running. */
async function readLines(
  context: Context,
  { file, line_number, column }: SourceLocation,
  { git_sha, contextLines }: ReadOptions,
): Promise<{ source: SourceLines | null; isFinal: boolean }> {
  const { text, commit, isFinal } = await readText(context, file, git_sha)
  const all = text === null ? [] : splitLines(text)
  if (line_number > all.length) return { source: null, isFinal }
  const { redactor } = context
  const first = Math.max(1, line_number - contextLines)
  const lines = all
    .slice(first - 1, line_number + contextLines)
    .map((line, i) => displayLine(line, first + i === line_number ? column : null, redactor))
  const highlighting = highlightLines(lines, { file, before: all.slice(0, first - 1).join('\n') })
  const isHighlighted = await allSettledWithin([highlighting], HIGHLIGHT_TIMEOUT_MS)
  const parts = isHighlighted ? await highlighting : plainParts(lines)
  return { source: { file, line_number, first, lines, parts, commit }, isFinal: isFinal && isHighlighted }
}

/** Splits text at the line breaks that JavaScript recognizes. */
export function splitLines(text: string): string[] {
  return text.split(/\r\n|[\n\r\u2028\u2029]/)
}

interface FileText {
  text: string | null
  commit: string | null
  isFinal: boolean
}

async function readText(context: Context, file: string, git_sha: string | null): Promise<FileText> {
  const { project_root } = context.config
  const { enable_git_blame } = readOptions(context.config, sourceOptions)
  const usesGit = enable_git_blame && isCommitHash(git_sha)
  const pastFile = usesGit ? frameFile(context, { file, git_sha }).then(readPastText) : Promise.resolve(null)
  const isFinal = await allSettledWithin([pastFile], GIT_TIMEOUT_MS)
  const past = isFinal ? await pastFile : null
  if (past) return { ...past, isFinal }
  const path = await locateSource(project_root, file)
  const current = path && (await readSource(path))
  return { text: current ? current.text : null, commit: null, isFinal }
}

async function readPastText(found: FrameFile | null): Promise<{ text: string; commit: string } | null> {
  const { git } = found ?? {}
  if (!git?.past || git.commit === null) return null
  const text = await textInCommit(git.repository, git.past).catch(() => null)
  return text === null ? null : { text, commit: git.commit }
}
