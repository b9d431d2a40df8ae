import { type MessagePort, receiveMessageOnPort } from 'node:worker_threads'
import { frameLocation } from '../../../capture/source-maps/frame-location.js'
import { columnBefore, type EditedLines } from './edits.js'

/** Where a handler is called that was only named, and where an older Node.js compiles CommonJS. */
const OWN_FRAME = /^at (?:\S+\.)?faultboardHandler \(|[\\/]capture[\\/]swallowed[\\/]hooks\.cjs:\d+:\d+\)$/

interface MarkedFile {
  lines: EditedLines
  is_mapped: boolean
}

/** Which columns of running code are not those of the file on disk, because something was added before them. */
export class MarkedFiles {
  readonly #files = new Map<string, MarkedFile>()
  /** The same lines come again and again, and whoever maps them knows them by their identity too. */
  readonly #known = new WeakMap<readonly string[], readonly string[]>()
  readonly #onUnreadable: (file: string) => void
  #port: MessagePort | null = null

  constructor(onUnreadable: (file: string) => void) {
    this.#onUnreadable = onUnreadable
  }

  /** By which another thread tells what it has marked. */
  listen(port: MessagePort): void {
    this.#port = port
    port.on('message', (message) => this.#take(message))
    port.unref()
  }

  add(file: string, lines: EditedLines, is_mapped: boolean): void {
    this.#files.set(file, { lines, is_mapped })
  }

  /** How many files were marked. */
  get size(): number {
    this.#receive()
    return this.#files.size
  }

  /** The lines of a stack as they would be without marks. The lines must not change later. */
  unmarked(lines: readonly string[]): readonly string[] {
    this.#receive()
    if (this.#files.size === 0) return lines
    const known = this.#known.get(lines)
    if (known) return known
    const mended = lines.filter((line) => !OWN_FRAME.test(line)).map((line) => this.#unmarkedLine(line))
    const is_same = mended.length === lines.length && mended.every((line, i) => line === lines[i])
    const unmarked = is_same ? lines : Object.freeze(mended)
    this.#known.set(lines, unmarked)
    return unmarked
  }

  #unmarkedLine(text: string): string {
    const location = frameLocation(text)
    const marked = location ? this.#files.get(location.file) : undefined
    // Node.js has read the map that came with the marks, and the stack is that of the source already.
    if (!location || !marked || (marked.is_mapped && isMapping())) return text
    const edits = marked.lines.get(location.line)
    if (!edits) return text
    const column = columnBefore(edits, location.column - 1) + 1
    if (column === location.column) return text
    const end = text.length - location.after.length
    return `${text.slice(0, end - String(location.column).length)}${column}${location.after}`
  }

  /** A stack is asked for before the event loop comes round to the messages about its files. */
  #receive(): void {
    if (!this.#port) return
    for (let next = receiveMessageOnPort(this.#port); next; next = receiveMessageOnPort(this.#port)) {
      this.#take(next.message)
    }
  }

  #take({ file, lines, is_mapped, unreadable }: LoaderMessage): void {
    if (unreadable !== undefined) this.#onUnreadable(unreadable)
    else this.add(file, lines, is_mapped)
  }
}

type LoaderMessage =
  | { file: string; lines: EditedLines; is_mapped: boolean; unreadable?: never }
  | { unreadable: string; file?: never; lines?: never; is_mapped?: never }

function isMapping(): boolean {
  return (process as { sourceMapsEnabled?: boolean }).sourceMapsEnabled ?? false
}
