import { onTestFinished } from 'vitest'
import { loadSqlite } from '../../../src/store/dialects/sqlite-library.js'
import type { TestDatabase } from '../databases.js'
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

/** SQLite is locked by another connection. A server refuses connections, or keeps them and does not respond. */
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
  let endFault = () => {}
  return {
    storage,
    url: storage.url,
    async startFault() {
      const { DatabaseSync } = await loadSqlite()
      const other = new DatabaseSync(storage.url.slice('sqlite:'.length))
      onTestFinished(() => endFault())
      endFault = () => {
        endFault = () => {}
        other.close()
      }
      // Without a busy timeout, which would block a transaction of the tracker in this process.
      await eventually(() => isLockedBy(other), 'the file is locked')
    },
    endFault: async () => endFault(),
  }
}

function isLockedBy(database: { exec(sql: string): void }): boolean {
  try {
    database.exec('begin exclusive')
    return true
  } catch {
    return false
  }
}
