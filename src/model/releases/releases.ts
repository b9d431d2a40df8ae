import { compareParsedVersions, parseVersion } from './versions.js'

/** Name of a release and when it was first seen. */
export interface SeenRelease {
  name: string
  first_seen_at: number
}

const COMMIT_SEPARATOR = ' @'
/** Length of the database column. */
const MAX_NAME_LENGTH = 128

/** Identifies a release by its version and commit, or by its version or commit alone if the other is unknown. */
export function releaseName(release: { app_version: string | null; git_sha: string | null }): string | null {
  const { app_version, git_sha } = release
  if (app_version === null || git_sha === null) return app_version ?? git_sha
  return `${app_version}${COMMIT_SEPARATOR}${git_sha}`.slice(0, MAX_NAME_LENGTH).trimEnd().toWellFormed()
}

/** Version part of a release name, or the commit if there is no version. */
export function releaseVersion(name: string): string {
  return splitReleaseName(name).version
}

/** Commit part of a release name that also has a version. */
export function releaseCommit(name: string): string | null {
  return splitReleaseName(name).commit
}

/**
 * Negative if `a` is older than `b`, positive if it is newer: by version, or else by the time first seen. 0 if they cannot
 * be distinguished, as when one commit is unknown.
 */
export function compareReleases(a: SeenRelease, b: SeenRelease): number {
  const [release, other] = [splitReleaseName(a.name), splitReleaseName(b.name)]
  const isSameVersion = release.version === other.version
  if (isSameVersion && (release.commit === other.commit || release.commit === null || other.commit === null)) return 0
  const order = isSameVersion ? 0 : compareParsedVersions(parseVersion(release.version), parseVersion(other.version))
  return order || Math.sign(a.first_seen_at - b.first_seen_at)
}

/**
 * Sorts the releases of one application, newest last. A release follows the releases seen before it, unless its version
 * is older: an old release that reports for the first time is not the newest.
 */
export function sortReleases<Release extends SeenRelease>(releases: readonly Release[]): Release[] {
  const byFirstSeen = releases
    .map((release) => ({ release, version: parseVersion(releaseVersion(release.name)) }))
    .sort(({ release: a }, { release: b }) => a.first_seen_at - b.first_seen_at || compareNumerically(a.name, b.name))
  const ordered: typeof byFirstSeen = []
  for (const release of byFirstSeen) {
    let index = ordered.length
    while (index > 0 && (compareParsedVersions(ordered[index - 1]?.version ?? null, release.version) ?? 0) > 0) index--
    ordered.splice(index, 0, release)
  }
  return ordered.map(({ release }) => release)
}

let numericCollator: Intl.Collator | undefined

/** Orders releases first seen at the same time: 3.10 after 3.9. The collator is lazy, because it takes 10 ms. */
function compareNumerically(a: string, b: string): number {
  numericCollator ??= new Intl.Collator('en', { numeric: true })
  return numericCollator.compare(a, b)
}

function splitReleaseName(name: string): { version: string; commit: string | null } {
  const at = name.lastIndexOf(COMMIT_SEPARATOR)
  return at < 0
    ? { version: name, commit: null }
    : { version: name.slice(0, at), commit: name.slice(at + COMMIT_SEPARATOR.length) }
}
