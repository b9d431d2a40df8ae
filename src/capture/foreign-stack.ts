import type { Cause } from '../model/event.js'
import type { CaptureContext } from './capture-context.js'
import type { ForeignError } from './foreign-error.js'
import { StoredMaps } from './source-maps/stored-maps.js'

/** A database that is slower than this must not hold up the report, however many causes it has. */
const PATIENCE_MS = 2000

const stores = new WeakMap<CaptureContext, StoredMaps>()

/** An error of another process with its stacks in the original source, before it is grouped by them. Never rejects. */
export async function withOriginalStack(context: CaptureContext, error: ForeignError): Promise<ForeignError> {
  if (!context.config.enable_source_maps) return error
  const maps = stores.get(context) ?? new StoredMaps(context)
  stores.set(context, maps)
  let timer: NodeJS.Timeout | undefined
  const tooLate = new Promise<ForeignError>((settle) => {
    timer = setTimeout(() => settle(error), PATIENCE_MS)
    timer.unref()
  })
  try {
    return await Promise.race([original(maps, error), tooLate])
  } catch {
    // The database is away, or a map is broken: a stack in generated code is better than none.
    context.counters.add('source_map_skipped')
    return error
  } finally {
    clearTimeout(timer)
  }
}

type Look = (lines: readonly string[]) => Promise<readonly string[]>

async function original(maps: StoredMaps, error: ForeignError): Promise<ForeignError> {
  const allowance = maps.allowance()
  const origin = { releases: error.releases ?? [error.app_version ?? ''], debug_ids: error.debug_ids }
  const look: Look = (lines) => maps.original(lines, origin, allowance)
  const backtrace = await look(error.backtrace)
  return { ...error, backtrace, ...(error.causes && { causes: await originalCauses(error.causes, look) }) }
}

async function originalCauses(causes: readonly Cause[], look: Look): Promise<Cause[]> {
  const all: Cause[] = []
  for (const cause of causes) {
    const backtrace = await look(cause.backtrace)
    all.push({ ...cause, backtrace, ...(cause.causes && { causes: await originalCauses(cause.causes, look) }) })
  }
  return all
}
