import { createHash } from 'node:crypto'
import { sourceText } from '../source-files.js'
import type { Repository } from './repository.js'
import { runGit } from './run-git.js'

const MOST_BYTES = 1_048_576

/** The full name of a commit that is known here, or null. Nothing but digits is ever handed to git. */
export async function knownCommit({ folder }: Repository, sha: string): Promise<string | null> {
  if (!isCommitName(sha)) return null
  try {
    const found = await runGit(folder, 'rev-parse', '--verify', '--quiet', `${sha.toLowerCase()}^{commit}`)
    return /^[\da-f]{40,64}$/.exec(found.toString().trim())?.[0] ?? null
  } catch {
    // A commit of another repository, or one that a shallow clone left out.
    return null
  }
}

export function isCommitName(sha: string | null): sha is string {
  return sha !== null && /^[\da-f]{7,40}$/i.test(sha)
}

/** A regular file of a commit. */
export interface CommitFile {
  blob: string
  size: number
}

/** The file of this path in a commit; null for what is not there, and for links, folders and submodules. */
export async function fileInCommit({ folder }: Repository, commit: string, path: string): Promise<CommitFile | null> {
  const answer = (await runGit(folder, 'ls-tree', '-z', '-l', '--full-tree', commit, '--', path)).toString()
  const match = /^(\d+) blob ([\da-f]+) +(\d+)\t/.exec(answer)
  const [head = '', mode = '', blob = '', size = ''] = match ?? []
  if (!mode.startsWith('100') || answer !== `${head}${path}\0`) return null
  return { blob, size: Number(size) }
}

/** Its text, or null where a file of that size or content would not be shown from the disk either. */
export async function textInCommit({ folder }: Repository, { blob, size }: CommitFile): Promise<string | null> {
  return size > MOST_BYTES ? null : sourceText(await runGit(folder, 'cat-file', 'blob', blob))
}

/** Whether these bytes are the very content that git knows by this name. */
export function isBlob(bytes: Buffer, { blob }: CommitFile): boolean {
  const algorithm = blob.length === 64 ? 'sha256' : 'sha1'
  return createHash(algorithm).update(`blob ${bytes.length}\0`).update(bytes).digest('hex') === blob
}
