import { hash } from 'node:crypto'
import { parseFrame } from '../stacks/backtrace.js'
import { normalizeMessage } from './normalized-message.js'

const MAX_FRAMES = 20
const MAX_WORDS = 40
const MAX_SCANNED_LINES = 50

/**
 * Features for comparing errors: own-code frames without line numbers, and the words of the normalized message. Each
 * feature is a number small enough for an index.
 */
export function similarityFeatures(message: string, backtrace: readonly string[]): number[] {
  return [
    ...new Set([
      ...frameKeys(backtrace).map((frame) => `f ${frame}`),
      ...messageWords(message).map((word) => `w ${word}`),
    ]),
  ].map(hashFeature)
}

/** Jaccard index: 1 if all features are shared, 0 if none are. */
export function similarity(shared: number, sizeA: number, sizeB: number): number {
  const union = sizeA + sizeB - shared
  return union <= 0 ? 0 : shared / union
}

/**
 * Number of features to look up so that no error with this similarity is missed. Such an error shares at least
 * `threshold * size` features, and so at least one of any subset of this size.
 */
export function requiredFeatureCount(size: number, threshold: number): number {
  return Math.max(1, Math.min(size, size - Math.ceil(threshold * size) + 1))
}

function frameKeys(backtrace: readonly string[]): string[] {
  const frames = new Set<string>()
  for (const line of backtrace.slice(0, MAX_SCANNED_LINES)) {
    const { in_app, file, function_name } = parseFrame(line, '')
    if (in_app) frames.add(`${file ?? ''}#${function_name ?? ''}`)
    if (frames.size === MAX_FRAMES) break
  }
  return [...frames]
}

function messageWords(message: string): string[] {
  const words =
    normalizeMessage(message)
      .toLowerCase()
      .match(/[\p{L}\p{N}_<>]+/gu) ?? []
  return [...new Set(words)].slice(0, MAX_WORDS)
}

/** 48 bits: an exact integer in every database and in JavaScript, with a negligible chance of collisions. */
function hashFeature(feature: string): number {
  return hash('sha1', feature, 'buffer').readUIntBE(0, 6)
}
