import { readdir } from 'node:fs/promises'
import { setTimeout as pause } from 'node:timers/promises'
import { createPool } from 'mysql2'
import pg from 'pg'
import { freshDatabase } from './harness/databases.mjs'
import { row } from './harness/report.mjs'
import { startServer } from './harness/servers.mjs'
import { startProxy } from './recovery/proxy.mjs'
import { CONNECT } from './write/connections.mjs'
import { makeEvents } from './write/events.mjs'
import { checkExact } from './write/exactness.mjs'
import { logAll, startTracker } from './write/ours.mjs'

const NAMES = { sqlite: 'SQLite', postgres: 'PostgreSQL', mysql: 'MariaDB' }
const MAX_RECOVERY_SECONDS = 5
/** Equals 33 errors per second for five minutes. */
const BACKLOG = 10_000
/** Connections that the host used before the fault. */
const POOL_SIZE = 10
/** Milliseconds from the start of a hanging write to the recovery of the network: below and above its timeout. */
const FAULT_MS = [200, 2500, 7000]

/** Measures seconds from the end of a fault until every acknowledged error is counted. Verifies every run. */
export async function* recovery({ quick, databases }) {
  for (const dialect of databases) {
    const title = `Recovery of ${NAMES[dialect]}`
    const server = dialect === 'sqlite' ? null : await startServer(dialect)
    if (server?.missing) yield { title, skipped: server.missing }
    else yield { title, measure: () => measureDatabase({ dialect, server: server?.url ?? null }, quick) }
    await server?.stop?.()
  }
}

async function measureDatabase(place, quick) {
  const rows = [
    await measureBacklog(place, { callers: 1, name: 'one file per error' }),
    await measureBacklog(place, { callers: 500, name: '500 callers at a time' }),
  ]
  if (place.dialect === 'sqlite') return rows
  for (const faultMs of quick ? FAULT_MS.slice(0, 2) : FAULT_MS) {
    rows.push(await measureLostPackets(place, faultMs, 'own'))
    rows.push(await measureLostPackets(place, faultMs, 'host'))
  }
  return rows
}

async function measureBacklog({ dialect, server }, { callers, name }) {
  return withFreshDatabase(dialect, server, BACKLOG, async (url) => {
    const fault = dialect === 'sqlite' ? await lockFile(url) : await refuseConnections(url)
    // Above half of the limit, occurrences are counted without details.
    const tracker = await startTracker(fault.url, { spool_max_bytes: 1_000_000_000 })
    await fault.begin()
    await logAll(tracker, makeEvents({ count: BACKLOG, groups: 200 }), callers)
    const { files, bytes, folder } = (await tracker.stats()).spool
    await fault.end()
    const seconds = await waitUntilCounted(tracker, folder)
    await tracker.shutdown()
    await fault.close()
    return row({
      name: `backlog of ${BACKLOG.toLocaleString('en-US')} errors, ${name}`,
      ...{ figure: seconds, unit: 's', limit: { max: MAX_RECOVERY_SECONDS } },
      more: { files, MB: bytes / 1e6, 'errors/s': BACKLOG / seconds },
    })
  })
}

/** The connections that exist during the fault never respond again. */
async function measureLostPackets({ dialect, server }, faultMs, owner) {
  const before = POOL_SIZE
  const during = 20
  return withFreshDatabase(dialect, server, before + during, async (url) => {
    const proxy = await startProxy(url)
    const pool = owner === 'host' ? HOST_POOL[dialect](proxy.url) : null
    const tracker = await startTracker(pool ?? proxy.url)
    if (pool) await Promise.all(Array.from({ length: POOL_SIZE }, () => pool.sleep()))
    const events = makeEvents({ count: before + during, groups: 3 })
    await logAll(tracker, events.slice(0, before), 1)
    proxy.blackhole()
    const logged = logAll(tracker, events.slice(before), 5)
    await pause(faultMs)
    await proxy.open()
    const started = performance.now()
    await logged
    await waitUntilCounted(tracker, (await tracker.stats()).spool.folder)
    const seconds = (performance.now() - started) / 1000
    await tracker.shutdown()
    // Connections that the fault broke fail here.
    pool?.end(() => {})
    proxy.close()
    return row({
      name: `packets lost for ${faultMs / 1000} s, ${owner === 'host' ? "the host's pool" : 'own connections'}`,
      ...{ figure: seconds, unit: 's', limit: { max: MAX_RECOVERY_SECONDS } },
    })
  })
}

const HOST_POOL = {
  postgres(url) {
    const pool = new pg.Pool({ connectionString: url, max: POOL_SIZE })
    pool.on('error', () => {})
    pool.sleep = () => pool.query('select pg_sleep(0.2)')
    return pool
  },
  mysql(url) {
    const pool = createPool({ uri: url, connectionLimit: POOL_SIZE })
    pool.sleep = () => pool.promise().query('select sleep(0.2)')
    return pool
  },
}

async function lockFile(url) {
  const holder = await CONNECT.sqlite(url)
  return { url, begin: () => holder.begin(), end: () => holder.commit(), close: () => holder.close() }
}

async function refuseConnections(url) {
  const proxy = await startProxy(url)
  return { url: proxy.url, begin: () => proxy.refuse(), end: () => proxy.open(), close: () => proxy.close() }
}

async function waitUntilCounted(tracker, folder) {
  const started = performance.now()
  for (;;) {
    // Reads the statistics last, because they read the size of every file.
    if ((await readdir(folder).catch(() => [])).length === 0) {
      const { buffered, queued, unavailable_since } = await tracker.stats()
      if (buffered + queued === 0 && unavailable_since === null) return (performance.now() - started) / 1000
    }
    await pause(50)
  }
}

async function withFreshDatabase(dialect, server, count, work) {
  const database = await freshDatabase(dialect, server)
  try {
    const result = await work(database.url)
    await checkExact(dialect, database.url, count, 'recovery')
    return result
  } finally {
    await database.remove()
  }
}
