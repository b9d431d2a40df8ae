import type { Cause } from '../../model/event.js'
import { withTimeout } from '../../model/with-timeout.js'
import type { CaptureContext } from '../capture-context.js'
import { type MappingSession, StoredMaps } from '../source-maps/stored/stored-maps.js'
import type { ForeignError } from './foreign-error.js'

/** A slow database must not delay the report longer than this, even for an error with many causes. */
const LOOKUP_TIMEOUT_MS = 2000

const stores = new WeakMap<CaptureContext, StoredMaps>()

/**
 * Maps the stacks of a client error to the original source before grouping. Adds stored source lines around the frames.
 * Never rejects.
 */
export async function withOriginalStack(context: CaptureContext, error: ForeignError): Promise<ForeignError> {
  if (!context.config.enable_source_maps) return error
  const maps = stores.get(context) ?? new StoredMaps(context)
  stores.set(context, maps)
  const session = maps.startSession()
  const mapped = await withFallback(context, mapError(maps, error, session), error)
  if (mapped === error || session.mapped.size === 0) return mapped
  // Loaded separately, because the stacks determine the group and must survive a failure here.
  const sources = await withFallback(context, maps.frameSources(session), [])
  return { ...mapped, frame_sources: [...(error.frame_sources ?? []), ...sources] }
}

/**
 * Resolves with the fallback if the work fails or takes too long. For example, the database is unreachable or a source
 * map is broken.
 */
async function withFallback<T>({ counters }: CaptureContext, work: Promise<T>, fallback: T): Promise<T> {
  try {
    return await withTimeout(work, LOOKUP_TIMEOUT_MS)
  } catch {
    // A stack in generated code, or without source lines, is better than no stack.
    counters.add('source_map_skipped')
    return fallback
  }
}

type MapLines = (lines: readonly string[]) => Promise<readonly string[]>

async function mapError(maps: StoredMaps, error: ForeignError, session: MappingSession): Promise<ForeignError> {
  const origin = { releases: error.releases ?? [error.app_version ?? ''], debug_ids: error.debug_ids }
  const mapLines: MapLines = (lines) => maps.original(lines, origin, session)
  const backtrace = await mapLines(error.backtrace)
  return { ...error, backtrace, ...(error.causes && { causes: await mapCauses(error.causes, mapLines) }) }
}

async function mapCauses(causes: readonly Cause[], mapLines: MapLines): Promise<Cause[]> {
  const mappedCauses: Cause[] = []
  for (const cause of causes) {
    const backtrace = await mapLines(cause.backtrace)
    mappedCauses.push({ ...cause, backtrace, ...(cause.causes && { causes: await mapCauses(cause.causes, mapLines) }) })
  }
  return mappedCauses
}
