import { type FrameSource, MAX_CONTEXT_LINES, MAX_FRAME_SOURCES } from '../../model/stacks/frame-source.js'
import { frameLine, MAX_FRAMES } from './frames.js'
import { asList, asRecord, type Json } from './values.js'

/** Source lines that an SDK sent with in-app frames, newest calls first. */
export function readFrameSources(stacktraces: readonly unknown[]): FrameSource[] {
  const sources = new Map<string, FrameSource>()
  for (const stacktrace of stacktraces) {
    for (const frame of asList(asRecord(stacktrace)?.frames, MAX_FRAMES, 'end').toReversed()) {
      if (sources.size >= MAX_FRAME_SOURCES) return [...sources.values()]
      const source = frame.in_app === false ? null : frameSource(frame)
      if (source && !sources.has(source.frame)) sources.set(source.frame, source)
    }
  }
  return [...sources.values()]
}

function frameSource(frame: Json): FrameSource | null {
  const { context_line, lineno } = frame
  // Line numbers start at 1.
  if (typeof context_line !== 'string' || !Number.isSafeInteger(lineno) || Number(lineno) < 1) return null
  const maxLinesBefore = Math.min(MAX_CONTEXT_LINES, Number(lineno) - 1)
  const before = maxLinesBefore > 0 ? asTexts(frame.pre_context).slice(-maxLinesBefore) : []
  const after = asTexts(frame.post_context).slice(0, MAX_CONTEXT_LINES)
  const lines = [...before, context_line, ...after].map((line) => line.trimEnd().replace(LINE_BREAKS, ' '))
  return { frame: frameLine(frame), first: Number(lineno) - before.length, lines }
}

/** A line break inside a line would shift all following numbers. */
const LINE_BREAKS = /[\r\n\u2028\u2029]+/g

/** Reads a list of lines. Keeps non-text values as lines, because line numbers depend on the position. */
function asTexts(value: unknown): string[] {
  return Array.isArray(value) ? value.map((line) => (typeof line === 'string' ? line : '')) : []
}
