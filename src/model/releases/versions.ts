/** A parsed version name, for ordering releases. */
export interface Version {
  numbers: number[]
  /** Parts after the hyphen; null if there are none. */
  prerelease: string[] | null
  /** Commits since the tag, as printed by `git describe`. */
  commits: number
}

const VERSION_PATTERN = /^v?(\d{1,15}(?:\.\d{1,15}){0,5})(?:-([0-9a-z.-]{1,100}))?(?:\+.{0,100})?$/i
const GIT_DESCRIBE_PATTERN = /^(?:(.+)-)?(\d{1,9})-g[0-9a-f]{4,64}(?:-dirty)?$/
/** Known prerelease stages in order. */
const STAGES = ['alpha', 'beta', 'rc']
const PRERELEASE_WORDS = [...STAGES, 'pre', 'preview', 'dev', 'next', 'canary', 'nightly', 'snapshot', 'experimental']

/**
 * Negative if `a` is older than `b`, positive if it is newer, 0 for the same release. Null if the names are not
 * comparable: words, commit hashes, build names, a date and a number.
 * @example compareVersions('2.9.0', '2.10.0') // negative
 * compareVersions('1.4.0-f81f3c2', '1.4.0-a07d11e') // null
 */
export function compareVersions(a: string, b: string): number | null {
  return a === b ? 0 : compareParsedVersions(parseVersion(a), parseVersion(b))
}

/** Compares versions that are already parsed. */
export function compareParsedVersions(a: Version | null, b: Version | null): number | null {
  if (!a || !b || isDateVersion(a) !== isDateVersion(b)) return null
  const order = compareNumbers(a.numbers, b.numbers)
  if (order !== 0) return order
  const prereleaseOrder = comparePrereleases(a.prerelease, b.prerelease)
  return prereleaseOrder === 0 ? Math.sign(a.commits - b.commits) : prereleaseOrder
}

export function parseVersion(name: string): Version | null {
  const [, numbers, rest] = VERSION_PATTERN.exec(name.trim()) ?? []
  if (numbers === undefined || isHash(numbers)) return null
  const [gitDescribe, tag, commits = '0'] = GIT_DESCRIBE_PATTERN.exec(rest?.toLowerCase() ?? '') ?? []
  const prerelease = gitDescribe === undefined ? rest?.toLowerCase() : tag
  return {
    numbers: numbers.split('.').map(Number),
    prerelease: prerelease === undefined ? null : splitPrerelease(prerelease),
    commits: Number(commits),
  }
}

/** Treats `rc.1`, `rc-1` and `rc1` the same. */
function splitPrerelease(prerelease: string): string[] {
  return prerelease.split(/[.-]/).flatMap((part) => {
    const [, word = '', number = ''] = /^([a-z]+)(\d{1,4})$/.exec(part) ?? []
    return PRERELEASE_WORDS.includes(word) ? [word, number] : [part]
  })
}

/** Seven or more digits can be a commit hash without letters. */
function isHash(digits: string): boolean {
  return /^\d{7,}$/.test(digits) && !isDate(digits)
}

/** Builds named by date, such as 20260314 or 202603141530, sort by name. */
function isDate(digits: string): boolean {
  return /^20\d\d(?:0[1-9]|1[0-2])(?:0[1-9]|[12]\d|3[01])\d{0,6}$/.test(digits)
}

/** A switch between dates and numbers starts a new, incomparable sequence. */
function isDateVersion({ numbers }: Version): boolean {
  return isDate(String(numbers[0]))
}

function compareNumbers(a: readonly number[], b: readonly number[]): number {
  for (let i = 0; i < Math.max(a.length, b.length); i++) {
    const difference = (a[i] ?? 0) - (b[i] ?? 0)
    if (difference !== 0) return Math.sign(difference)
  }
  return 0
}

function comparePrereleases(a: readonly string[] | null, b: readonly string[] | null): number | null {
  if (!a || !b) return comparePrereleaseWithRelease(a, b)
  for (let i = 0; i < Math.max(a.length, b.length); i++) {
    const [partA, partB] = [a[i], b[i]]
    const order = comparePrereleaseParts(partA, partB)
    if (order !== 0) return order
  }
  return 0
}

/** Null for a number, custom word or hash, which can mark either a prerelease or a build of the release. */
function comparePrereleaseWithRelease(a: readonly string[] | null, b: readonly string[] | null): number | null {
  if (!a && !b) return 0
  if (!PRERELEASE_WORDS.includes((a ?? b)?.[0] ?? '')) return null
  return a ? -1 : 1
}

/** Follows semantic versioning for known parts: a shorter list is older, and numbers are older than words. */
function comparePrereleaseParts(a: string | undefined, b: string | undefined): number | null {
  if (a === b) return 0
  if ([a, b].some((part) => part !== undefined && !isNumber(part) && !PRERELEASE_WORDS.includes(part))) return null
  if (a === undefined || b === undefined) return a === undefined ? -1 : 1
  if (isNumber(a) && isNumber(b)) return Math.sign(Number(a) - Number(b))
  if (isNumber(a) || isNumber(b)) return isNumber(a) ? -1 : 1
  const [stageA, stageB] = [STAGES.indexOf(a), STAGES.indexOf(b)]
  return stageA < 0 || stageB < 0 ? null : Math.sign(stageA - stageB)
}

function isNumber(part: string): boolean {
  return /^\d{1,15}$/.test(part) && !isHash(part)
}
