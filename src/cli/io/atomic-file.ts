import { randomUUID } from 'node:crypto'
import { createWriteStream, rmSync } from 'node:fs'
import { realpath, rename, rm, stat } from 'node:fs/promises'
import { pipeline } from 'node:stream/promises'
import { CommandFailed } from '../command.js'

/**
 * Streams chunks of text to a file; `-` is standard output. The file gets its final name only when it is complete, so
 * that a partial export never looks complete.
 */
export async function writeAtomically(file: string, chunks: AsyncIterable<string>): Promise<void> {
  let sourceError: unknown = null
  async function* trackErrors(): AsyncGenerator<string> {
    try {
      yield* chunks
    } catch (error) {
      sourceError = error
      throw error
    }
  }
  try {
    await write(file, trackErrors())
  } catch (error) {
    if (error === sourceError) throw error
    const reason = error instanceof Error ? error.message : String(error)
    throw new CommandFailed(`Cannot write ${file}: ${reason}. Check the free space and the permissions.`)
  }
}

async function write(file: string, chunks: AsyncIterable<string>): Promise<void> {
  if (file === '-') return pipeline(chunks, process.stdout, { end: false })
  const existing = await stat(file).catch(() => null)
  // A pipe or a device is written directly: renaming a file over it would remove it.
  if (existing && !existing.isFile()) return pipeline(chunks, createWriteStream(file))
  const finalPath = existing ? await realpath(file) : file
  // A unique name, because another export to the same file can run at the same time.
  const partialPath = `${finalPath}.${randomUUID()}.partial`
  const removePartial = (signal: NodeJS.Signals) => {
    rmSync(partialPath, { force: true })
    process.kill(process.pid, signal)
  }
  // Removes the partial file on the first signal. The next signal ends the process as usual.
  for (const signal of STOP_SIGNALS) process.once(signal, removePartial)
  try {
    await pipeline(chunks, createWriteStream(partialPath, { mode: 0o600, flags: 'wx' }))
    await rename(partialPath, finalPath)
  } catch (error) {
    await rm(partialPath, { force: true })
    throw error
  } finally {
    for (const signal of STOP_SIGNALS) process.off(signal, removePartial)
  }
}

const STOP_SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const
