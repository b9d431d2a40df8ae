import { type MessagePort, receiveMessageOnPort } from 'node:worker_threads'
import { frameLocation } from '../../../capture/source-maps/frame-location.js'
import { originalColumn, type ShiftedLines } from './marking/shifted-lines.js'

/** Frames of wrapped promise handlers, and of the CommonJS compiler that older Node.js versions need. */
const OWN_FRAME = /^at (?:\S+\.)?faultboardHandler \(|[\\/]swallowed[\\/]detection[\\/]hooks\.cjs:\d+:\d+\)$/

interface MarkedFile {
  lines: ShiftedLines
  isMapped: boolean
}

/** Marked files with their shifted columns. Restores the columns of the files on disk in stacks of marked code. */
export class MarkedFiles {
  readonly #files = new Map<string, MarkedFile>()
  /** Results by identity, because the same frozen stack is processed repeatedly. */
  readonly #unmarkedStacks = new WeakMap<readonly string[], readonly string[]>()
  readonly #onUnreadable: (file: string) => void
  #port: MessagePort | null = null

  constructor(onUnreadable: (file: string) => void) {
    this.#onUnreadable = onUnreadable
  }

  /** Receives the files that the loader thread marks. */
  listen(port: MessagePort): void {
    this.#port = port
    port.on('message', (message) => this.#handle(message))
    port.unref()
  }

  add(file: string, lines: ShiftedLines, isMapped: boolean): void {
    this.#files.set(file, { lines, isMapped })
  }

  /** Number of marked files. */
  get size(): number {
    this.#receivePending()
    return this.#files.size
  }

  /** Returns the stack as it would be without marks. The lines must not change later. */
  unmarkedStack(lines: readonly string[]): readonly string[] {
    this.#receivePending()
    if (this.#files.size === 0) return lines
    const cached = this.#unmarkedStacks.get(lines)
    if (cached) return cached
    const corrected = lines.filter((line) => !OWN_FRAME.test(line)).map((line) => this.#unmarkedLine(line))
    const isUnchanged = corrected.length === lines.length && corrected.every((line, i) => line === lines[i])
    const unmarked = isUnchanged ? lines : Object.freeze(corrected)
    this.#unmarkedStacks.set(lines, unmarked)
    return unmarked
  }

  #unmarkedLine(text: string): string {
    const location = frameLocation(text)
    const marked = location ? this.#files.get(location.file) : undefined
    // Node.js has already applied the shifted source map, so the stack contains source positions.
    if (!location || !marked || (marked.isMapped && hasSourceMapsEnabled())) return text
    const pairs = marked.lines.get(location.line)
    if (!pairs) return text
    const column = originalColumn(pairs, location.column - 1) + 1
    if (column === location.column) return text
    const end = text.length - location.after.length
    return `${text.slice(0, end - String(location.column).length)}${column}${location.after}`
  }

  /** Handles messages immediately, because a stack can be read before the event loop delivers them. */
  #receivePending(): void {
    if (!this.#port) return
    for (let next = receiveMessageOnPort(this.#port); next; next = receiveMessageOnPort(this.#port)) {
      this.#handle(next.message)
    }
  }

  #handle({ file, lines, isMapped, unreadable }: LoaderMessage): void {
    if (unreadable !== undefined) this.#onUnreadable(unreadable)
    else this.add(file, lines, isMapped)
  }
}

type LoaderMessage =
  | { file: string; lines: ShiftedLines; isMapped: boolean; unreadable?: never }
  | { unreadable: string; file?: never; lines?: never; isMapped?: never }

function hasSourceMapsEnabled(): boolean {
  return (process as { sourceMapsEnabled?: boolean }).sourceMapsEnabled ?? false
}
