import type { Context } from '../context.js'
import type { Breadcrumbs } from './breadcrumbs/breadcrumbs.js'
import type { TraceSightings } from './facts/trace.js'
import type { LagGuard } from './guards/lag.js'
import type { MessageFloods } from './guards/message-floods.js'
import type { Storms } from './guards/storms.js'
import type { CaptureHooks } from './hooks.js'
import type { Scopes } from './scope.js'
import type { SourceLines } from './source-maps/source-lines.js'
import type { SourcePositions } from './source-maps/source-positions.js'

/** Adds the dependencies of capture to the context of every operation. */
export interface CaptureContext extends Context {
  scopes: Scopes
  breadcrumbs: Breadcrumbs
  /** Absent if stacks are not mapped to source. */
  positions: SourcePositions | undefined
  /** Identifies functions without a name. */
  sourceLines: SourceLines
  hooks: CaptureHooks
  /** Errors recorded while an OpenTelemetry span was active. */
  traces: TraceSightings
  storms: Storms
  floods: MessageFloods
  lag: LagGuard
  /** Identifies the tracker. Stays the same when the tracker restarts with new settings. */
  owner: object
  /** Facts shared by all errors of this process: hostname, pid, versions. */
  processFacts: Readonly<Record<string, unknown>> | null
}
