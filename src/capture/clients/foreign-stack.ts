import type { Cause } from '../../model/event.js'
import { withTimeout } from '../../model/with-timeout.js'
import type { CaptureContext } from '../capture-context.js'
import { type Allowance, StoredMaps } from '../source-maps/stored-maps.js'
import type { ForeignError } from './foreign-error.js'

/** A slow database must not delay the report longer than this, however many causes the error has. */
const PATIENCE_MS = 2000

const stores = new WeakMap<CaptureContext, StoredMaps>()

/**
 * Maps the stacks of a client error to the original source before grouping, and adds stored source lines around its
 * frames. Never rejects.
 */
export async function withOriginalStack(context: CaptureContext, error: ForeignError): Promise<ForeignError> {
  if (!context.config.enable_source_maps) return error
  const maps = stores.get(context) ?? new StoredMaps(context)
  stores.set(context, maps)
  const allowance = maps.allowance()
  const mapped = await inPatience(context, original(maps, error, allowance), error)
  if (mapped === error || allowance.mapped.size === 0) return mapped
  // Separate from the stacks, which decide the group and must not be lost if this fails.
  const sources = await inPatience(context, maps.sourcesOf(allowance), [])
  return { ...mapped, frame_sources: [...(error.frame_sources ?? []), ...sources] }
}

/** Resolves with `otherwise` when the work fails or takes too long: the database is away, or a source map is broken. */
async function inPatience<T>({ counters }: CaptureContext, work: Promise<T>, otherwise: T): Promise<T> {
  try {
    return await withTimeout(work, PATIENCE_MS)
  } catch {
    // A stack in generated code, or without source lines, is better than none.
    counters.add('source_map_skipped')
    return otherwise
  }
}

type Look = (lines: readonly string[]) => Promise<readonly string[]>

async function original(maps: StoredMaps, error: ForeignError, allowance: Allowance): Promise<ForeignError> {
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
