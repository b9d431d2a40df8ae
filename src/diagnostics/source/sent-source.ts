import type { Frame } from '../../model/stacks/backtrace.js'
import type { FrameSource } from '../../model/stacks/frame-source.js'
import { settledInTime } from './in-time.js'
import { COLOURS_LIMIT_MS, MOST_PLACES, type SourceLines } from './source-code.js'
import { highlighted, plainParts } from './source-highlight.js'

/**
 * The source around each of these frames of another process, as its client sent it, or null. No file is read: one of
 * the same name on this machine is another.
 */
export async function sentSourcesOf(
  frames: readonly Frame[],
  sent: readonly FrameSource[],
): Promise<readonly (SourceLines | null)[]> {
  const found = frames.map((frame, i) => (i < MOST_PLACES ? sourceOf(frame, sent) : null))
  const colouring = found.map(async (source) => {
    if (source) source.parts = await highlighted(source.lines, { file: source.file, before: '' })
  })
  await settledInTime(colouring, COLOURS_LIMIT_MS)
  return found.map((source) => source && { ...source })
}

function sourceOf({ line, file, line_number }: Frame, sent: readonly FrameSource[]): SourceLines | null {
  const own = sent.find(({ frame }) => frame === line)
  if (!own || file === null || line_number === null) return null
  const lines = [...own.lines]
  return { file, line_number, first: own.first, lines, parts: plainParts(lines), commit: null }
}
