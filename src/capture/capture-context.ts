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

/** What capturing needs beside what every operation receives. */
export interface CaptureContext extends Context {
  scopes: Scopes
  breadcrumbs: Breadcrumbs
  /** Absent where stacks are taken as they are. */
  positions: SourcePositions | undefined
  /** Identifies functions without a name. */
  source_lines: SourceLines
  hooks: CaptureHooks
  /** Which errors were recorded while a span of OpenTelemetry was active. */
  traces: TraceSightings
  storms: Storms
  floods: MessageFloods
  lag: LagGuard
  /** The host's pools, by the names under which they are told of in dumps. */
  pools: ReadonlyMap<string, WeakRef<object>>
  /** What is the same for every error of this process: hostname, pid, versions. */
  process_facts: Readonly<Record<string, unknown>>
}
