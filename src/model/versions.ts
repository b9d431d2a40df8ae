/** Which of two releases came first, by what their names say. */

interface Numbered {
  numbers: number[]
  /** What follows a hyphen, part by part; a release without any is newer than its previews. */
  preview: string[]
}

const NUMBERED = /^v?(\d{1,15}(?:\.\d{1,15}){0,5})(?:-([0-9a-z.-]{1,100}))?(?:\+.{0,100})?$/i

/**
 * Below 0 when `a` is older than `b`, above 0 when it is newer, 0 when they are the same release, and null when their
 * names do not tell: words, dates without order, hashes of commits.
 *
 * @example
 * compareVersions('2.9.0', '2.10.0') // below 0
 * compareVersions('a81f3c2', 'b07d11e') // null
 */
export function compareVersions(a: string, b: string): number | null {
  if (a === b) return 0
  const [one, other] = [numbered(a), numbered(b)]
  if (!one || !other) return null
  return compareNumbers(one.numbers, other.numbers) || comparePreviews(one.preview, other.preview)
}

function numbered(version: string): Numbered | null {
  const [, numbers, preview] = NUMBERED.exec(version.trim()) ?? []
  if (numbers === undefined) return null
  // Seven digits and more without a dot may as well be the hash of a commit that holds no letter.
  if (/^\d{7,}$/.test(numbers) && !isDate(numbers)) return null
  return { numbers: numbers.split('.').map(Number), preview: preview?.toLowerCase().split('.') ?? [] }
}

/** Builds named by their day, such as 20260314 or 202603141530, come in the order of their names. */
function isDate(digits: string): boolean {
  return /^20\d\d(?:0[1-9]|1[0-2])(?:0[1-9]|[12]\d|3[01])\d{0,6}$/.test(digits)
}

function compareNumbers(a: readonly number[], b: readonly number[]): number {
  for (let i = 0; i < Math.max(a.length, b.length); i++) {
    const difference = (a[i] ?? 0) - (b[i] ?? 0)
    if (difference !== 0) return Math.sign(difference)
  }
  return 0
}

function comparePreviews(a: readonly string[], b: readonly string[]): number {
  if (a.length === 0 || b.length === 0) return Math.sign(b.length - a.length)
  for (let i = 0; i < Math.max(a.length, b.length); i++) {
    const [one, other] = [a[i], b[i]]
    if (one === undefined) return -1
    if (other === undefined) return 1
    if (one !== other) return comparePreviewParts(one, other)
  }
  return 0
}

/** Semantic versioning: numbers by size, and below words. */
function comparePreviewParts(a: string, b: string): number {
  const [isNumber, otherIsNumber] = [/^\d+$/.test(a), /^\d+$/.test(b)]
  if (isNumber && otherIsNumber) return Math.sign(Number(a) - Number(b))
  if (isNumber !== otherIsNumber) return isNumber ? -1 : 1
  return a < b ? -1 : 1
}
