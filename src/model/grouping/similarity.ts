import { createHash } from 'node:crypto'
import { parseFrame } from '../stacks/backtrace.js'
import { normalizeMessage } from './normalized-message.js'

const MOST_FRAMES = 20
const MOST_WORDS = 40
const SCANNED_LINES = 50

/**
 * What an error is compared by: the host's own frames, without line numbers, and the words of the message without what
 * differs from one occurrence to the next. Each is kept as a number, short enough for an index.
 */
export function featuresOf(message: string, backtrace: readonly string[]): number[] {
  return [
    ...new Set([...framesOf(backtrace).map((frame) => `f ${frame}`), ...wordsOf(message).map((word) => `w ${word}`)]),
  ].map(numberOf)
}

/** The part of all features of two errors that both have: 1 when they are alike, 0 when nothing is. */
export function similarity(shared: number, ofOne: number, ofOther: number): number {
  const all = ofOne + ofOther - shared
  return all <= 0 ? 0 : shared / all
}

/**
 * How many of an error's features another must be looked for by, so that none with this similarity is missed: one that
 * is so similar shares at least `threshold * size` of them, and so at least one of any so many.
 */
export function featuresToAsk(size: number, threshold: number): number {
  return Math.max(1, Math.min(size, size - Math.ceil(threshold * size) + 1))
}

function framesOf(backtrace: readonly string[]): string[] {
  const frames = new Set<string>()
  for (const line of backtrace.slice(0, SCANNED_LINES)) {
    const { in_app, file, function_name } = parseFrame(line, '')
    if (in_app) frames.add(`${file ?? ''}#${function_name ?? ''}`)
    if (frames.size === MOST_FRAMES) break
  }
  return [...frames]
}

function wordsOf(message: string): string[] {
  const words =
    normalizeMessage(message)
      .toLowerCase()
      .match(/[\p{L}\p{N}_<>]+/gu) ?? []
  return [...new Set(words)].slice(0, MOST_WORDS)
}

/** 48 bits: a whole number in every database and in JavaScript, and too many for two features to meet by chance. */
function numberOf(feature: string): number {
  return createHash('sha1').update(feature).digest().readUIntBE(0, 6)
}
