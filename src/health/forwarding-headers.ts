import type { Context } from '../context.js'
import { DAY } from '../model/time.js'
import type { Database } from '../store/database.js'
import type { BulkTarget } from '../store/dialect.js'

const LEASE_NAME = 'forwarding_headers_ignored'
/** Covers a dashboard that is opened once a week. Lets the warning expire after the proxy is removed. */
const WARNING_TTL_MS = 7 * DAY
/** Delays the query to keep it out of the host's startup and of short scripts. */
const FIRST_CHECK_DELAY_MS = 1000

const LEASE_ROWS: BulkTarget = {
  table: 'faultboard_leases',
  columns: [
    { name: 'name', type: 'text' },
    { name: 'expires_at', type: 'integer' },
  ],
  onConflict: { key: ['name'], update: [{ column: 'expires_at', by: 'greatest' }] },
}

/** Describes the problem and the fix, for the log, the Health page and `faultboard check`. */
export function ignoredHeadersText(header = 'X-Forwarded-For'): string {
  return `Requests contain ${header}, but no proxy is trusted: all clients behind the proxy share one address, one rate limit and one limit for failed sign-ins. Set trusted_proxies to the addresses of the proxy, for example ['private'].`
}

/** Stores that forwarding headers were ignored, so that `faultboard check` can report it. */
export async function storeProxyWarning({ database, ready, now }: Context): Promise<void> {
  await ready()
  const row = [LEASE_NAME, now() + WARNING_TTL_MS]
  await database.write(async (trx) => void (await database.dialect.insertMany(trx, LEASE_ROWS, [row])))
}

/** Deletes the stored warning once a proxy is trusted, so that `faultboard check` and the next start omit it. */
export async function clearProxyWarning({ database, ready }: Context): Promise<void> {
  await ready()
  await database.write(async (trx) => {
    await trx.deleteFrom('faultboard_leases').where('name', '=', LEASE_NAME).execute()
  })
}

export async function hasIgnoredHeaders({ read }: Database, now: number): Promise<boolean> {
  const lease = await read
    .selectFrom('faultboard_leases')
    .select('expires_at')
    .where('name', '=', LEASE_NAME)
    .executeTakeFirst()
  return Number(lease?.expires_at ?? 0) > now
}

/**
 * Logs the stored warning after a restart, before the first request. Deletes it if a proxy is trusted now. Returns a
 * function that cancels the check.
 */
export function logStoredProxyWarning(context: Context): () => void {
  const { config, counters, database, ready, log, now } = context
  const warn = async () => {
    await ready()
    if (config.trusted_proxies.length > 0) {
      if (await hasIgnoredHeaders(database, now())) await clearProxyWarning(context)
      return
    }
    const isReported = 'forwarding_headers_ignored' in counters.toJSON()
    if (!isReported && (await hasIgnoredHeaders(database, now()))) log.warn(ignoredHeadersText())
  }
  // The recorder reports an unavailable database.
  const timer = setTimeout(() => void warn().catch(() => {}), FIRST_CHECK_DELAY_MS).unref()
  return () => clearTimeout(timer)
}
