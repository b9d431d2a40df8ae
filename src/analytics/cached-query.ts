import type { Context } from '../context.js'
import type { Database } from '../store/database.js'

/** Minimum duration of a query whose result is cached, unless the database is large. */
const MIN_CACHED_MS = 50
/** Below this number of errors, no result is cached, because a slow query only shows that the machine is busy. */
const SMALL_DATABASE_ERRORS = 100
/** Above this number of errors, all results are cached. */
const LARGE_DATABASE_ERRORS = 5000
/** Fresh for one minute; served stale for ten minutes while it is refreshed. */
const FRESH_MS = 60_000
const STALE_MS = 10 * 60_000
const MAX_CACHED_RESULTS = 500

export interface CachedResult<T> {
  value: T
  /** Time of the query, according to the tracker's clock. */
  queriedAt: number
}

/** Time of the oldest result. */
export function oldestQueryTime(results: readonly (CachedResult<unknown> | null)[]): number {
  return Math.min(...results.flatMap((result) => result?.queriedAt ?? []))
}

interface CacheEntry {
  result: CachedResult<unknown> | null
  /** Monotonic time, independent of the tracker's clock. */
  storedAt: number
  pending: Promise<CachedResult<unknown>> | null
}

const caches = new WeakMap<Database, Map<string, CacheEntry>>()

/**
 * Caches results for pages only: all results of a large database, slow results of a medium database, none of a small
 * database. Concurrent callers share one query.
 */
export async function cachedQuery<T>(
  context: Context,
  cacheKey: string,
  query: () => Promise<T>,
): Promise<CachedResult<T>> {
  const cache = databaseCache(context.database)
  const entry = cache.get(cacheKey) ?? { result: null, storedAt: 0, pending: null }
  const age = performance.now() - entry.storedAt
  if (entry.result && age < STALE_MS) {
    // The next caller receives the error.
    if (age >= FRESH_MS) void refresh(context, cacheKey, entry, query).catch(() => cache.delete(cacheKey))
    return entry.result as CachedResult<T>
  }
  return refresh(context, cacheKey, entry, query)
}

async function refresh<T>(
  context: Context,
  cacheKey: string,
  entry: CacheEntry,
  query: () => Promise<T>,
): Promise<CachedResult<T>> {
  const cache = databaseCache(context.database)
  entry.pending ??= (async () => {
    const started = performance.now()
    const queriedAt = context.now()
    try {
      const result = { value: await query(), queriedAt }
      entry.storedAt = performance.now()
      const isSlow = entry.storedAt - started >= MIN_CACHED_MS
      const isCacheable = await hasErrors(context.database, isSlow ? SMALL_DATABASE_ERRORS : LARGE_DATABASE_ERRORS)
      entry.result = isCacheable ? result : null
      return result
    } finally {
      entry.pending = null
      if (!entry.result) cache.delete(cacheKey)
    }
  })()
  storeEntry(cache, cacheKey, entry)
  return entry.pending as Promise<CachedResult<T>>
}

/** Databases with many errors. Not rechecked, because only a mass deletion could change this. */
const largeDatabases = new WeakSet<Database>()

/** Checks for about this number of errors, by the highest id. */
async function hasErrors(database: Database, minimum: number): Promise<boolean> {
  if (largeDatabases.has(database)) return true
  const newest = await database.read
    .selectFrom('faultboard_errors')
    .select(({ fn }) => fn.max<number | null>('id').as('id'))
    .executeTakeFirst()
  const highestId = newest?.id ?? 0
  if (highestId >= LARGE_DATABASE_ERRORS) largeDatabases.add(database)
  return highestId >= minimum
}

function storeEntry(cache: Map<string, CacheEntry>, cacheKey: string, entry: CacheEntry): void {
  // Moves the entry to the end, so that the least recently used entry is first.
  cache.delete(cacheKey)
  cache.set(cacheKey, entry)
  const [oldest] = cache.keys()
  if (cache.size > MAX_CACHED_RESULTS && oldest !== undefined) cache.delete(oldest)
}

function databaseCache(database: Database): Map<string, CacheEntry> {
  let cache = caches.get(database)
  if (!cache) {
    cache = new Map()
    caches.set(database, cache)
  }
  return cache
}
