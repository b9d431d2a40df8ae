import type { Context } from '../context.js'
import type { Breadcrumbs } from './breadcrumbs.js'
import type { LagGuard } from './guards/lag.js'
import type { MessageFloods } from './guards/message-floods.js'
import type { Storms } from './guards/storms.js'
import type { Scopes } from './scope.js'
import type { SourcePositions } from './source-positions.js'

/** What capturing needs beside what every operation receives. */
export interface CaptureContext extends Context {
  scopes: Scopes
  breadcrumbs: Breadcrumbs
  /** Absent where stacks are taken as they are. */
  positions: SourcePositions | undefined
  storms: Storms
  floods: MessageFloods
  lag: LagGuard
  /** What is the same for every error of this process: hostname, pid, versions. */
  process_facts: Readonly<Record<string, unknown>>
}
