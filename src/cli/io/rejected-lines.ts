import { type FileHandle, open, realpath, stat } from 'node:fs/promises'
import type { Line, Rejection } from '../../transfer/import-records.js'
import { wrongUse } from '../arguments.js'
import { CommandFailed } from '../command.js'
import { harmless } from './terminal.js'

/** So many are told one by one; all that have text are in the file. */
const TOLD = 20

/** Keeps the lines that an import does not take, in a file that is made with the first of them. */
export class RejectedLines {
  file: string
  readonly first: Rejection[] = []
  kept = 0
  #handle: FileHandle | null = null

  private constructor(file: string) {
    this.file = file
  }

  static async beside(source: string, file: string): Promise<RejectedLines> {
    const [one, other] = await Promise.all([source, file].map((path) => realpath(path).catch(() => null)))
    if (one !== null && one === other) throw wrongUse(`--rejected names ${file}, the very file that is imported`)
    return new RejectedLines(file)
  }

  async keep(rejection: Rejection, { text }: Line): Promise<void> {
    if (this.first.length < TOLD) this.first.push(rejection)
    if (text === null) return
    try {
      this.#handle ??= await this.#openAnew()
      await this.#handle.write(`${text}\n`)
      this.kept++
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error)
      throw new CommandFailed(
        `Line ${rejection.line} cannot be taken (${harmless(rejection.reason)}), nor kept in ${this.file}: ${reason}. What was imported before it stays; name another file by --rejected and import the same again.`,
      )
    }
  }

  /** Under another name where there is one already: those lines may be of another import, and kept nowhere else. */
  async #openAnew(): Promise<FileHandle> {
    const asked = this.file
    const there = await stat(asked).catch(() => null)
    // A pipe or a device, /dev/null for one, is there to be written.
    if (there && !there.isFile()) return open(asked, 'w')
    for (let number = 2; ; number++) {
      try {
        return await open(this.file, 'wx', 0o600)
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
        this.file = `${asked}.${number}`
      }
    }
  }

  async close(): Promise<void> {
    await this.#handle?.close()
  }
}
