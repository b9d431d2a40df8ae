import type { Context } from '../context.js'
import type { Timing } from './timing.js'

export interface EngineParts extends Pick<Context, 'config' | 'database' | 'ready' | 'log' | 'now' | 'random'> {
  /** For tests, which do not wait for a minute. */
  timing?: Partial<Timing>
}
