import type { Cause } from '../model/event.js'
import type { CaptureContext } from './capture-context.js'
import type { ForeignError } from './foreign-error.js'
import { type StackOrigin, StoredMaps } from './source-maps/stored-maps.js'

const stores = new WeakMap<CaptureContext, StoredMaps>()

/** An error of another process with its stacks in the original source, before it is grouped by them. Never rejects. */
export async function withOriginalStack(context: CaptureContext, error: ForeignError): Promise<ForeignError> {
  if (!context.config.enable_source_maps) return error
  const maps = stores.get(context) ?? new StoredMaps(context)
  stores.set(context, maps)
  const origin = { release: error.app_version, debug_ids: error.debug_ids }
  const backtrace = await maps.original(error.backtrace, origin)
  return { ...error, backtrace, ...(error.causes && { causes: await originalCauses(maps, error.causes, origin) }) }
}

async function originalCauses(maps: StoredMaps, causes: readonly Cause[], origin: StackOrigin): Promise<Cause[]> {
  const original: Cause[] = []
  for (const cause of causes) {
    original.push({
      ...cause,
      backtrace: await maps.original(cause.backtrace, origin),
      ...(cause.causes && { causes: await originalCauses(maps, cause.causes, origin) }),
    })
  }
  return original
}
