import { realpath } from 'node:fs/promises'
import { readOptions } from '../../config/options.js'
import type { Context } from '../../context.js'
import type { FrameFile } from './frame-file.js'
import { folderWithGit, pathInside } from './git/repository.js'
import { commitLink, fileLink, isTemplate, webAddress } from './git/repository-links.js'
import { sourceOptions } from './options.js'

export interface RepositoryLinks {
  file: string | null
  commit(sha: string): string | null
}

/** Returns links to a frame and its commits at the Git host. */
export async function repositoryLinks(
  { config }: Context,
  { path, git }: FrameFile,
  { git_sha, line }: { git_sha: string | null; line: number },
): Promise<RepositoryLinks> {
  const { git_repository_url: configuredUrl } = readOptions(config, sourceOptions)
  const root = await realpath(config.project_root)
  const address =
    configuredUrl !== null && isTemplate(configuredUrl)
      ? configuredUrl
      : webAddress(configuredUrl ?? git?.repository.origin ?? '')
  // The configured URL belongs to the repository that contains project_root, not to a nested repository.
  const name =
    configuredUrl === null ? (git?.name ?? null) : pathInside({ folder: (await folderWithGit(root)) ?? root }, path)
  const isNested =
    git !== null && configuredUrl === null && pathInside({ folder: root }, git.repository.folder) !== null
  const candidates = [git?.commit, isNested ? null : git_sha, git?.repository.head, config.git_sha]
  const commit = candidates.find((sha) => typeof sha === 'string' && /^[\da-f]{7,64}$/i.test(sha)) ?? null
  return {
    file: address && name && commit ? fileLink(address, { commit, path: name, line }) : null,
    commit: (sha) => address && commitLink(address, sha),
  }
}
