import { randomUUID } from 'node:crypto'
import { createWriteStream, rmSync } from 'node:fs'
import { realpath, rename, rm, stat } from 'node:fs/promises'
import { pipeline } from 'node:stream/promises'
import { CommandFailed } from '../command.js'

/**
 * Writes what comes while it comes; `-` is standard output. A file has its name only when it is whole: half of one must
 * not be taken for all there is.
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
    throw new CommandFailed(`Cannot write ${file}: ${reason}. Is there room, and may this process write there?`)
  }
}

async function write(file: string, texts: AsyncIterable<string>): Promise<void> {
  if (file === '-') return pipeline(texts, process.stdout, { end: false })
  const there = await stat(file).catch(() => null)
  // A pipe or a device is written as it is: a file that takes its name would have done away with it.
  if (there && !there.isFile()) return pipeline(texts, createWriteStream(file))
  const whole = there ? await realpath(file) : file
  // A name of its own: another export to the same file may be under way.
  const partial = `${whole}.${randomUUID()}.partial`
  const leave = (signal: NodeJS.Signals) => {
    rmSync(partial, { force: true })
    process.kill(process.pid, signal)
  }
  // Whoever stops an export has no use for half of it. Once: sent again, the signal ends the process as it would have.
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
