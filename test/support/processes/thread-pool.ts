import { execFileSync } from 'node:child_process'
import { closeSync, constants, openSync } from 'node:fs'
import { type FileHandle, open } from 'node:fs/promises'
import { join } from 'node:path'
import { onTestFinished } from 'vitest'
import { temporaryFolder } from '../tracker.js'

export interface BlockedThreadPool {
  /** Number of file operations that wait for a thread. */
  waiting(): number
  /** Resumes the file operations in the order in which they were started. */
  release(): void
}

/** Suspends every asynchronous file operation of this process: opening a pipe without a writer blocks a thread. */
export function blockThreadPool(): BlockedThreadPool {
  const threads = Number(process.env.UV_THREADPOOL_SIZE ?? 4)
  const folder = temporaryFolder()
  const pipes = Array.from({ length: threads }, (_, thread) => join(folder, `${thread}`))
  execFileSync('mkfifo', pipes)
  const readers: Promise<FileHandle>[] = pipes.map((pipe) => open(pipe, 'r'))
  let isReleased = false
  const release = () => {
    if (isReleased) return
    isReleased = true
    const writers = pipes.map((pipe) => openSync(pipe, constants.O_RDWR | constants.O_NONBLOCK))
    void Promise.all(readers.map((reader) => reader.then((handle) => handle.close()))).then(() => {
      for (const writer of writers) closeSync(writer)
    })
  }
  onTestFinished(release)
  return {
    release,
    waiting: () => process.getActiveResourcesInfo().filter((name) => name === 'FSReqPromise').length - threads,
  }
}
