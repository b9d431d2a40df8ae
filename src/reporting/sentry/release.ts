/** Version and commit parsed from the name of a release. */
export interface Release {
  app_version?: string
  git_sha?: string
  build?: string
}

const SHA = /^[0-9a-f]{7,40}$/i

/**
 * Parses a release name: `package@version+build`, a commit, or any other text as the version.
 * @example parseRelease('shop@2.4.0+118') // { app_version: '2.4.0', build: '118' }
 */
export function parseRelease(release: string | undefined): Release {
  const name = trimRelease(release)
  if (!name) return {}
  const version = withoutPackage(name)
  if (isCommit(version)) return { git_sha: version.toLowerCase() }
  const [, versionPart, build] = /^(v?\d[^+\s]*)\+(.+)$/.exec(version) ?? []
  if (versionPart === undefined || build === undefined) return { app_version: version }
  return isCommit(build)
    ? { app_version: versionPart, git_sha: build.toLowerCase() }
    : { app_version: versionPart, build }
}

/**
 * Returns all names under which source maps of a release may have been uploaded, starting with the SDK's own name.
 * @example releaseNames('shop@2.4.0+118') // ['shop@2.4.0+118', '2.4.0+118', '2.4.0']
 */
export function releaseNames(release: string | undefined): string[] {
  const name = trimRelease(release)
  if (!name) return []
  const { app_version, git_sha } = parseRelease(name)
  const names = [name, withoutPackage(name), app_version, git_sha]
  return [...new Set(names.filter((candidate) => candidate !== undefined))]
}

function trimRelease(release: string | undefined): string | undefined {
  return release?.trim().slice(0, 250)
}

/** Removes the package name, which starts with @ if the package is scoped. */
function withoutPackage(name: string): string {
  return /^@?[^@\s]+@(.+)$/.exec(name)?.[1] ?? name
}

/** Requires a letter and a digit in a short hash, because seven digits can be a build number. */
function isCommit(text: string): boolean {
  return SHA.test(text) && (text.length === 40 || (/[a-f]/i.test(text) && /\d/.test(text)))
}
