import { randomUUID } from 'node:crypto'
import { createWriteStream, rmSync } from 'node:fs'
import { realpath, rename, rm, stat } from 'node:fs/promises'
import { pipeline } from 'node:stream/promises'
import { CommandFailed } from '../command.js'

/**
 * Streams texts to a file; `-` is standard output. The file gets its final name only when it is complete, so that a
 * partial export is never mistaken for a complete one.
 */
export async function writeWhole(file: string, texts: AsyncIterable<string>): Promise<void> {
  let unread: unknown = null
  async function* reading(): AsyncGenerator<string> {
    try {
      yield* texts
    } catch (error) {
      unread = error
      throw error
    }
  }
  try {
    await write(file, reading())
  } catch (error) {
    if (error === unread) throw error
    const reason = error instanceof Error ? error.message : String(error)
    throw new CommandFailed(`Cannot write ${file}: ${reason}. Check the free space and the permissions.`)
  }
}

async function write(file: string, texts: AsyncIterable<string>): Promise<void> {
  if (file === '-') return pipeline(texts, process.stdout, { end: false })
  const there = await stat(file).catch(() => null)
  // A pipe or a device is written directly: renaming a file over it would remove it.
  if (there && !there.isFile()) return pipeline(texts, createWriteStream(file))
  const whole = there ? await realpath(file) : file
  // A unique name, because another export to the same file can run at the same time.
  const partial = `${whole}.${randomUUID()}.partial`
  const leave = (signal: NodeJS.Signals) => {
    rmSync(partial, { force: true })
    process.kill(process.pid, signal)
  }
  // Removes the partial file on a signal. Once only: the next signal ends the process as usual.
  for (const signal of STOPS) process.once(signal, leave)
  try {
    await pipeline(texts, createWriteStream(partial, { mode: 0o600, flags: 'wx' }))
    await rename(partial, whole)
  } catch (error) {
    await rm(partial, { force: true })
    throw error
  } finally {
    for (const signal of STOPS) process.off(signal, leave)
  }
}

const STOPS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const
