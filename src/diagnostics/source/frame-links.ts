import { realpath } from 'node:fs/promises'
import { readOptions } from '../../config/options.js'
import type { Context } from '../../context.js'
import type { FrameFile } from './frame-file.js'
import { folderWithGit, pathInside } from './git/repository.js'
import { commitLink, fileLink, isTemplate, webAddress } from './git/repository-links.js'
import { sourceOptions } from './options.js'

export interface Links {
  file: string | null
  commit(sha: string): string | null
}

/** Where a frame and its commits are to be seen at the host of the repository. */
export async function linksOf(
  { config }: Context,
  { path, git }: FrameFile,
  { git_sha, line }: { git_sha: string | null; line: number },
): Promise<Links> {
  const { git_repository_url: given } = readOptions(config, sourceOptions)
  const root = await realpath(config.project_root)
  const address = given !== null && isTemplate(given) ? given : webAddress(given ?? git?.repository.origin ?? '')
  // An address that was given is that of the repository around project_root, not of one inside it.
  const name = given === null ? (git?.name ?? null) : pathInside({ folder: (await folderWithGit(root)) ?? root }, path)
  const is_inner = git !== null && given === null && pathInside({ folder: root }, git.repository.folder) !== null
  const known = [git?.commit, is_inner ? null : git_sha, git?.repository.head, config.git_sha]
  const commit = known.find((sha) => typeof sha === 'string' && /^[\da-f]{7,64}$/i.test(sha)) ?? null
  return {
    file: address && name && commit ? fileLink(address, { commit, path: name, line }) : null,
    commit: (sha) => address && commitLink(address, sha),
  }
}
