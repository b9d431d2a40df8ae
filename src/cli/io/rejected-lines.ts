import { type FileHandle, open, realpath, stat } from 'node:fs/promises'
import type { Line, Rejection } from '../../transfer/import-records.js'
import { usageError } from '../arguments.js'
import { CommandFailed } from '../command.js'
import { escapeText } from './terminal.js'

/** Number of rejected lines to print. All lines with text are in the file. */
const MAX_PRINTED_LINES = 20

/** Saves the lines that an import rejects, in a file created with the first line. */
export class RejectedLines {
  file: string
  readonly first: Rejection[] = []
  savedCount = 0
  #handle: FileHandle | null = null

  private constructor(file: string) {
    this.file = file
  }

  static async create(source: string, file: string): Promise<RejectedLines> {
    const [sourcePath, rejectedPath] = await Promise.all([source, file].map((path) => realpath(path).catch(() => null)))
    if (sourcePath !== null && sourcePath === rejectedPath)
      throw usageError(`--rejected must not be the imported file, ${file}`)
    return new RejectedLines(file)
  }

  async save(rejection: Rejection, { text }: Line): Promise<void> {
    if (this.first.length < MAX_PRINTED_LINES) this.first.push(rejection)
    if (text === null) return
    try {
      this.#handle ??= await this.#openNewFile()
      await this.#handle.write(`${text}\n`)
      this.savedCount++
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error)
      throw new CommandFailed(
        `Line ${rejection.line} was rejected (${escapeText(rejection.reason)}) and cannot be saved to ${this.file}: ${reason}. Earlier lines are imported; choose another file with --rejected and run the import again.`,
      )
    }
  }

  /** Uses another name if the file exists: its lines may belong to another import and have no other copy. */
  async #openNewFile(): Promise<FileHandle> {
    const requestedFile = this.file
    const existing = await stat(requestedFile).catch(() => null)
    // A pipe or a device such as /dev/null can be written.
    if (existing && !existing.isFile()) return open(requestedFile, 'w')
    for (let number = 2; ; number++) {
      try {
        return await open(this.file, 'wx', 0o600)
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
        this.file = `${requestedFile}.${number}`
      }
    }
  }

  async close(): Promise<void> {
    await this.#handle?.close()
  }
}
