import { readOptions } from '../../config/options.js'
import type { Context } from '../../context.js'
import { type FrameFile, frameFile } from './frame-file.js'
import { type Links, linksOf } from './frame-links.js'
import { blame, type LineChange } from './git/blame.js'
import { fileInCommit, isBlob, textInCommit } from './git/commit-files.js'
import { lineBefore } from './git/line-map.js'
import { asTrouble } from './git/repository.js'
import { type GitReason, GitTrouble } from './git/run-git.js'
import { settledInTime } from './in-time.js'
import { Memory } from './memory.js'
import { sourceOptions } from './options.js'
import { linesOf, MOST_PLACES, type SourcePlace, type SourceSpot, spotOf } from './source-code.js'
import { readSource } from './source-files.js'

/** What the repository tells of a frame. */
export interface FrameHistory {
  /** The line at its host, at the commit of the occurrence or what is checked out here. */
  link: string | null
  change: (LineChange & { link: string | null }) | null
  /** The commit at which the line was looked up; null is the working copy. */
  commit: string | null
  /** Loading Git history. */
  is_pending: boolean
  /** Why nobody is named. */
  note: string | null
}

export interface Histories {
  frames: readonly (FrameHistory | null)[]
  /** What keeps git from telling anything at all, in one line. */
  note: string | null
}

const TIME_LIMIT_MS = 100
const TROUBLE_MS = 60_000
const LEAST_MS = 10_000
const MOST = 1000

/**
 * Who last changed the line of each of these frames, and where it is to be seen. What takes longer than a moment is
 * still found out, for the next who asks. Nothing is asked while the options are off; it never throws.
 */
export async function historiesOf(
  context: Context,
  places: readonly SourcePlace[],
  git_sha: string | null,
): Promise<Histories> {
  const { enable_git_blame, git_repository_url } = readOptions(context.config, sourceOptions)
  const frames: (FrameHistory | null)[] = places.map(() => null)
  if (!enable_git_blame && git_repository_url === null) return { frames, note: null }
  const troubles = new Set<GitReason>()
  const asking = places.slice(0, MOST_PLACES).map(async (place, i) => {
    const spot = spotOf(place)
    frames[i] = spot && { ...NOTHING, is_pending: enable_git_blame }
    const file = spot && (await frameFile(context, { file: spot.file, git_sha }))
    if (!spot || !file) {
      frames[i] = null
      return
    }
    if (file.trouble) troubles.add(file.trouble)
    const links = await linksOf(context, file, { git_sha, line: spot.line_number })
    frames[i] = { ...NOTHING, link: links.file, is_pending: file.git !== null }
    if (file.git) frames[i] = historyOf(await lineHistory(context, file, spot, git_sha), links)
  })
  await settledInTime(asking, TIME_LIMIT_MS)
  const [trouble] = troubles
  return { frames: [...frames], note: trouble ? NOTES[trouble] : null }
}

const NOTHING: FrameHistory = { link: null, change: null, commit: null, is_pending: false, note: null }

/** In the words of the page. */
const NOTES: Readonly<Record<GitReason, string>> = {
  no_git: 'Who changed a line is not known: there is no git on this machine.',
  no_repository: 'Who changed a line is not known: there is no Git repository around project_root.',
  refused: 'Git refuses to read this repository, because it belongs to another user. See safe.directory in its manual.',
  late: 'Git took too long to tell who changed the line.',
  busy: 'Git has too much to do at the moment.',
  failed: 'Git could not find who changed the line.',
}

interface LineHistory {
  change: LineChange | null
  commit: string | null
  note: string | null
  /** Whether it may be another a moment later. */
  is_trouble: boolean
}

const memories = new WeakMap<Context, Memory<LineHistory>>()

function lineHistory(
  context: Context,
  file: FrameFile,
  { line_number }: SourceSpot,
  git_sha: string | null,
): Promise<LineHistory> {
  const memory = memories.get(context) ?? new Memory<LineHistory>(MOST)
  memories.set(context, memory)
  // A page that was sent without it asks again, and must find it then.
  const ttl = Math.max(LEAST_MS, readOptions(context.config, sourceOptions).source_code_cache_ttl * 1000)
  const lasts = ({ is_trouble }: LineHistory) => (is_trouble ? TROUBLE_MS : ttl)
  const key = `${file.path}\n${line_number}\n${git_sha}\n${file.git?.repository.head}`
  return memory.get(key, context.now, lasts, () => lookUp(file, line_number).catch(notKnown))
}

async function lookUp({ path, git }: FrameFile, line_number: number): Promise<LineHistory> {
  if (!git) throw new GitTrouble('failed')
  const { repository, name, past } = git
  if (past) {
    const change = await blame(repository, { commit: git.commit ?? '', path: name, line: line_number })
    return told(change, git.commit)
  }
  const [committed, now] = await Promise.all([fileInCommit(repository, repository.head, name), readSource(path)])
  if (!committed) return untold('Git does not know this file.')
  if (!now || COUNTED_OTHERWISE.test(now.text)) throw new GitTrouble('failed')
  // The working copy is compared here and not by git, which would run the filters that the repository names.
  const is_same = isBlob(now.bytes, committed)
  const before = is_same ? null : await textInCommit(repository, committed)
  const line = is_same ? line_number : placeIn(before, now.text, line_number)
  if (line === 'new') return untold('This line is not committed yet.')
  if (line === 'unclear') return untold('The file has uncommitted changes: who changed this line is not known.')
  const change = await blame(repository, { commit: repository.head, path: name, line })
  return told(change, is_same ? git.commit : null)
}

function placeIn(before: string | null, now: string, line_number: number): number | 'new' | 'unclear' {
  return before === null ? 'unclear' : lineBefore(linesOf(now), linesOf(before), line_number)
}

/** Line ends that git does not know. */
const COUNTED_OTHERWISE = /\r(?!\n)|[\u2028\u2029]/

function told(change: LineChange | null, commit: string | null): LineHistory {
  if (change?.is_cut_off) return untold('Who changed this line is beyond the history of this shallow clone.')
  return { change, commit, note: null, is_trouble: false }
}

function untold(note: string): LineHistory {
  return { change: null, commit: null, note, is_trouble: false }
}

function notKnown(error: unknown): LineHistory {
  return { ...untold(NOTES[asTrouble(error).reason]), is_trouble: true }
}

function historyOf({ change, commit, note }: LineHistory, links: Links): FrameHistory {
  return {
    link: links.file,
    change: change && { ...change, link: links.commit(change.commit) },
    commit,
    is_pending: false,
    note,
  }
}
