import type { Frame } from '../../model/stacks/backtrace.js'
import type { FrameSource } from '../../model/stacks/frame-source.js'
import { allSettledWithin } from './all-settled-within.js'
import { HIGHLIGHT_TIMEOUT_MS, MAX_FRAMES, type SourceLines } from './source-code.js'
import { highlightLines, plainParts } from './source-highlight.js'

/**
 * Returns the source lines that a client sent with each frame, or null. Reads no files, because a local file of the same
 * name is a different file.
 */
export async function loadSentSources(
  frames: readonly Frame[],
  sent: readonly FrameSource[],
): Promise<readonly (SourceLines | null)[]> {
  const found = frames.map((frame, i) => (i < MAX_FRAMES ? findSource(frame, sent) : null))
  const highlighting = found.map(async (source) => {
    if (source) source.parts = await highlightLines(source.lines, { file: source.file, before: '' })
  })
  await allSettledWithin(highlighting, HIGHLIGHT_TIMEOUT_MS)
  return found.map((source) => source && { ...source })
}

function findSource({ line, file, line_number }: Frame, sent: readonly FrameSource[]): SourceLines | null {
  const match = sent.find(({ frame }) => frame === line)
  if (!match || file === null || line_number === null) return null
  const lines = [...match.lines]
  return { file, line_number, first: match.first, lines, parts: plainParts(lines), commit: null }
}
