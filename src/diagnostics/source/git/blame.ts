import { cleanText } from '../../../model/text.js'
import type { Repository } from './repository.js'
import { GitTrouble, runGit } from './run-git.js'

/** Who last changed a line. All of it was written by whoever made the commit. */
export interface LineChange {
  commit: string
  author: string
  /** ISO 8601, or null where the commit tells no time that is one. */
  changed_at: string | null
  summary: string
  /** Whether the history ends here only because the clone was cut off. */
  is_cut_off: boolean
}

/** Rejects with a GitTrouble, also where the commit has no such line. */
export async function blame(
  { folder, is_shallow }: Repository,
  { commit, path, line }: { commit: string; path: string; line: number },
): Promise<LineChange | null> {
  const place = ['-L', `${line},${line}`, commit, '--', path]
  const ask = (...more: string[]) =>
    runGit(folder, ...['blame', '--porcelain', '--no-textconv', '--encoding=UTF-8', ...more, ...place])
  const answer = await ask().catch((error: unknown) => {
    if (!(error instanceof GitTrouble) || error.reason !== 'failed') throw error
    // Settings for all repositories may name a list of commits to pass over that this one does not have.
    return ask('--no-ignore-revs-file')
  })
  return changeIn(answer.toString('utf8'), is_shallow)
}

const AUTHOR_LIMIT = 60
const SUMMARY_LIMIT = 120
/** Neither breaks a line nor turns the text around it the other way. */
const UNSEEN = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]+/gu

function changeIn(answer: string, is_shallow: boolean): LineChange | null {
  const lines = answer.slice(0, answer.indexOf('\n\t') + 1).split('\n')
  const commit = /^[\da-f]{40,64}(?= )/.exec(lines[0] ?? '')?.[0]
  if (!commit) return null
  const value = (name: string) => lines.find((line) => line.startsWith(`${name} `))?.slice(name.length + 1) ?? ''
  return {
    commit,
    author: legible(value('author'), AUTHOR_LIMIT) || 'somebody',
    changed_at: timeOf(value('author-time')),
    summary: legible(value('summary'), SUMMARY_LIMIT),
    is_cut_off: is_shallow && lines.includes('boundary'),
  }
}

function legible(text: string, limit: number): string {
  return cleanText(
    text
      .slice(0, 4 * limit)
      .replace(UNSEEN, ' ')
      .trim(),
    limit,
  )
}

function timeOf(seconds: string): string | null {
  const time = new Date(/^\d{1,11}$/.test(seconds) ? Number(seconds) * 1000 : Number.NaN)
  return Number.isNaN(time.getTime()) ? null : time.toISOString()
}
