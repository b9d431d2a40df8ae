import { cleanText } from '../../../model/text.js'
import type { Repository } from './repository.js'
import { GitError, runGit } from './run-git.js'

/** Last change of a line. All strings are copied from the commit and untrusted. */
export interface LineChange {
  commit: string
  author: string
  /** ISO 8601. Null if the commit contains no valid time. */
  changed_at: string | null
  summary: string
  /** True if the history ends here because the clone is shallow. */
  isTruncated: boolean
}

/** Runs `git blame` for one line. Rejects with a GitError, even if the line does not exist. */
export async function blame(
  { folder, isShallow }: Repository,
  { commit, path, line }: { commit: string; path: string; line: number },
): Promise<LineChange | null> {
  const target = ['-L', `${line},${line}`, commit, '--', path]
  const runBlame = (...options: string[]) =>
    runGit(folder, ...['blame', '--porcelain', '--no-textconv', '--encoding=UTF-8', ...options, ...target])
  const output = await runBlame().catch((error: unknown) => {
    if (!(error instanceof GitError) || error.reason !== 'failed') throw error
    // The user's configuration can name an ignore-revs file that this repository does not contain.
    return runBlame('--no-ignore-revs-file')
  })
  return parseChange(output.toString('utf8'), isShallow)
}

const MAX_AUTHOR_LENGTH = 60
const MAX_SUMMARY_LENGTH = 120
/** Control, format and separator characters, which could break lines or reverse text. */
const INVISIBLE = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]+/gu

function parseChange(output: string, isShallow: boolean): LineChange | null {
  const lines = output.slice(0, output.indexOf('\n\t') + 1).split('\n')
  const commit = /^[\da-f]{40,64}(?= )/.exec(lines[0] ?? '')?.[0]
  if (!commit) return null
  const value = (name: string) => lines.find((line) => line.startsWith(`${name} `))?.slice(name.length + 1) ?? ''
  return {
    commit,
    author: sanitize(value('author'), MAX_AUTHOR_LENGTH) || 'unknown',
    changed_at: parseTime(value('author-time')),
    summary: sanitize(value('summary'), MAX_SUMMARY_LENGTH),
    isTruncated: isShallow && lines.includes('boundary'),
  }
}

function sanitize(text: string, limit: number): string {
  return cleanText(
    text
      .slice(0, 4 * limit)
      .replace(INVISIBLE, ' ')
      .trim(),
    limit,
  )
}

function parseTime(seconds: string): string | null {
  const time = new Date(/^\d{1,11}$/.test(seconds) ? Number(seconds) * 1000 : Number.NaN)
  return Number.isNaN(time.getTime()) ? null : time.toISOString()
}
