import { once } from 'node:events'
import type { TestDatabase } from '../databases.js'
import { startChild } from '../processes/children.js'
import { eventually, freshStorage, type TrackerStorage } from '../tracker.js'
import { startProxy } from './proxy.js'

/** A database that a test can make unavailable. */
export interface FaultyDatabase {
  /** Connection of the tracker, which is subject to the fault. */
  storage: TrackerStorage
  /** Direct URL for assertions during the fault. */
  url: string
  startFault(): Promise<void>
  endFault(): Promise<void>
}

/** SQLite is locked by another process. A server refuses connections, or keeps them and does not respond. */
export async function faultyDatabase(
  database: TestDatabase,
  fault: 'refuse' | 'hang' | 'blackhole' = 'refuse',
): Promise<FaultyDatabase> {
  const { url, spool_path } = await freshStorage(database)
  if (database.dialect === 'sqlite') return lockedFile({ url, spool_path })
  const proxy = await startProxy(url)
  return {
    storage: { url: proxy.url, spool_path },
    url,
    startFault: async () => proxy[fault](),
    endFault: () => proxy.open(),
  }
}

function lockedFile(storage: TrackerStorage): FaultyDatabase {
  let release = async () => {}
  return {
    storage,
    url: storage.url,
    async startFault() {
      const child = startChild('lock', { file: storage.url.slice('sqlite:'.length) })
      await eventually(() => child.lines.includes('locked'), 'the file is locked')
      release = async () => {
        child.process.stdin?.end()
        await once(child.process, 'close')
      }
    },
    endFault: () => release(),
  }
}
