import { OWN_FOLDERS } from '../config/own-modules.js'
import { type Frame, locationText, parseFrame, stackLines } from '../model/stacks/backtrace.js'
import { cleanText } from '../model/text.js'
import type { CaptureContext } from './capture-context.js'
import { TEXT_LIMITS } from './values/text-limits.js'

type PlaceContext = Pick<CaptureContext, 'config' | 'positions'>

/** High, because an ORM adds many frames between the application and the driver. */
const MAX_FRAMES = 30

/** Location of the call in the host's code; empty if the stack contains only libraries. */
export function callingPlace(context: PlaceContext): string {
  const stack = currentStack()
  return stack === null ? '' : placeIn(stack, '', context, { includeLibraries: false })
}

/** Returns the newest location of a stack in the host's own code or, if requested, in a library. */
export function placeIn(
  stack: string,
  message: string,
  { config, positions }: PlaceContext,
  { includeLibraries }: { includeLibraries: boolean },
): string {
  const lines = stackLines(stack, message, MAX_FRAMES).filter((line) => !isOwnFrame(line))
  let libraryFrame: Frame | undefined
  for (const line of positions?.original(lines) ?? lines) {
    const frame = parseFrame(line, config.project_root)
    if (frame.in_app) return cleanText(locationText(frame), TEXT_LIMITS.place)
    if (frame.file?.includes('/node_modules/')) libraryFrame ??= frame
  }
  return includeLibraries && libraryFrame ? cleanText(locationText(libraryFrame), TEXT_LIMITS.place) : ''
}

function currentStack(): string | null {
  const limit = Error.stackTraceLimit
  const holder: { stack?: unknown } = {}
  try {
    Error.stackTraceLimit = MAX_FRAMES
    Error.captureStackTrace(holder, currentStack)
    // The host may have replaced `Error.prepareStackTrace`.
    return typeof holder.stack === 'string' ? holder.stack : null
  } finally {
    Error.stackTraceLimit = limit
  }
}

/** Checks whether a stack line belongs to the tracker itself. */
function isOwnFrame(line: string): boolean {
  return OWN_FOLDERS?.some((folder) => line.includes(folder)) ?? false
}
