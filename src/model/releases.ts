import { compareRead, readVersion } from './versions.js'

/** A release by its name, and when it was first seen. */
export interface SeenRelease {
  name: string
  first_seen_at: number
}

const COMMIT = ' @'
/** What the column of its name takes. */
const NAME_LIMIT = 128

/** What tells one release from another: its version and the commit, or whichever is known. */
export function releaseName(release: { app_version: string | null; git_sha: string | null }): string | null {
  const { app_version, git_sha } = release
  if (app_version === null || git_sha === null) return app_version ?? git_sha
  return `${app_version}${COMMIT}${git_sha}`.slice(0, NAME_LIMIT).trimEnd().toWellFormed()
}

/** The version in the name of a release, or the commit where it had no version. */
export function versionIn(name: string): string {
  return parts(name).version
}

/** The commit in the name of a release that has a version too. */
export function commitIn(name: string): string | null {
  return parts(name).commit
}

/**
 * Below 0 when a release came before another, above 0 when it came after: by what their versions say, or else by when
 * they were first seen. 0 when nothing tells them apart, as when the commit of one is not known.
 */
export function compareReleases(a: SeenRelease, b: SeenRelease): number {
  const [one, other] = [parts(a.name), parts(b.name)]
  const isSameVersion = one.version === other.version
  if (isSameVersion && (one.commit === other.commit || one.commit === null || other.commit === null)) return 0
  const order = isSameVersion ? 0 : compareRead(readVersion(one.version), readVersion(other.version))
  return order || Math.sign(a.first_seen_at - b.first_seen_at)
}

/**
 * Releases of one application, the newest last. Each comes after those that were seen before it, unless its version
 * says that it is older than they are: an old release that reports for the first time is not the newest.
 */
export function inOrderOfRelease<One extends SeenRelease>(releases: readonly One[]): One[] {
  const bySight = releases
    .map((release) => ({ release, version: readVersion(versionIn(release.name)) }))
    .sort(({ release: a }, { release: b }) => a.first_seen_at - b.first_seen_at || byNumber.compare(a.name, b.name))
  const ordered: typeof bySight = []
  for (const one of bySight) {
    let place = ordered.length
    while (place > 0 && (compareRead(ordered[place - 1]?.version ?? null, one.version) ?? 0) > 0) place--
    ordered.splice(place, 0, one)
  }
  return ordered.map(({ release }) => release)
}

/** Of two that were first seen at once, 3.10 comes after 3.9. */
const byNumber = new Intl.Collator('en', { numeric: true })

function parts(name: string): { version: string; commit: string | null } {
  const at = name.lastIndexOf(COMMIT)
  return at < 0
    ? { version: name, commit: null }
    : { version: name.slice(0, at), commit: name.slice(at + COMMIT.length) }
}
