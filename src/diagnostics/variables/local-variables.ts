import { types } from 'node:util'
import { hasReachedStackEnd, isStackOverflow } from '../../capture/guards/stack-room.js'
import type { SourcePositions } from '../../capture/source-maps/source-positions.js'
import { type Options, readOptions } from '../../config/options.js'
import type { Log } from '../../context.js'
import type { Counters } from '../../model/counters.js'
import { createRedactor, NO_REDACTION, type Redactor } from '../../model/redaction/redaction.js'
import type { FrameVariables } from '../../model/stacks/frame-variables.js'
import { Demand } from './demand.js'
import { localVariableOptions } from './options.js'
import { originalFrames } from './original-frames.js'
import { PauseBudget } from './pause-budget.js'
import type { LiveFrame } from './paused-frames.js'
import { NoPauses, onThrow, type PauseReader } from './pauses.js'
import { type ReadFrame, readFrames, type VariableLimits } from './read-frames.js'
import { Thrown } from './thrown.js'
import { ownValue } from './value-text.js'

export interface LocalVariablesParts {
  config: Options
  positions: SourcePositions | undefined
  counters: Counters
  log: Log
  now(): number
}

/** How far down the causes of an error are searched for variables when it has none itself. */
const CAUSE_DEPTH = 5

const OVERFLOWED = 'the stack overflowed, and Node.js may abort a process that pauses at an overflow'

/**
 * The variables at the place where an error was thrown. While it runs, the thread stops for a moment at whatever is
 * thrown, caught or not; what the host's own frames held then is kept with the thrown value until it is logged or gone.
 */
export class LocalVariables implements PauseReader {
  readonly wants_self: boolean
  readonly #parts: LocalVariablesParts
  readonly #redactor: Redactor
  readonly #limits: VariableLimits
  readonly #budget: PauseBudget
  readonly #thrown = new Thrown<readonly ReadFrame[]>()
  readonly #demand: Demand | null
  #end: (() => void) | null = null
  #is_possible = true
  #has_overflowed = false

  constructor(parts: LocalVariablesParts) {
    const { config, now } = parts
    const options = readOptions(config, localVariableOptions)
    this.#parts = parts
    this.#redactor = redactorOf(config)
    this.#limits = limitsOf(config)
    this.wants_self = options.enable_instance_variables
    this.#budget = new PauseBudget({
      max_per_second: options.local_variable_max_per_second,
      max_ms_per_second: options.local_variable_max_pause_ms_per_second,
    })
    this.#demand =
      options.local_variable_mode === 'adaptive' ? new Demand(now, { arm: () => this.#arm(), rest: () => this.#rest() }) : null // biome-ignore format: one choice
  }

  /** Begins at once, unless it waits for an error that is worth it; where it cannot be done, the log says why. */
  start(): void {
    if (!this.#demand) this.#arm()
  }

  stop(): void {
    this.#is_possible = false
    this.#demand?.stop()
    this.#rest()
  }

  /** What was read when this was thrown, or when what caused it was; null where nothing was. */
  of(thrown: unknown, hash_signature: string): readonly FrameVariables[] | null {
    const frames = this.#framesOf(thrown)
    if (this.#has_overflowed) this.#endAfterOverflow()
    if (this.#is_possible) this.#demand?.logged(hash_signature, frames !== null)
    if (frames === null || frames.length === 0) return null
    const { config, positions } = this.#parts
    return originalFrames(frames, { project_root: config.project_root, positions, redactor: this.#redactor })
  }

  get is_open(): boolean {
    return this.#budget.is_open && !this.#has_overflowed && !hasReachedStackEnd()
  }

  read(thrown: unknown, frames: readonly LiveFrame[]): void {
    if (isStackOverflow(thrown)) this.#has_overflowed = true
    if (frames.length === 0) this.#parts.counters.add('local_variables_optimised')
    else this.#thrown.keep(thrown, placeOf(frames), () => readFrames(frames, this.#redactor, this.#limits))
  }

  spend(ms: number, has_read: boolean): void {
    this.#budget.spend(ms, has_read)
    if (this.#budget.is_open) return
    this.#parts.counters.add(this.#budget.is_too_dear ? 'local_variables_too_dear' : 'local_variables_too_many')
  }

  nextSecond(): void {
    this.#budget.nextSecond()
    if (this.#has_overflowed || hasReachedStackEnd()) setImmediate(() => this.#endAfterOverflow()).unref()
  }

  ended(reason: string): void {
    this.#end = null
    // The line may run code of the host, which must not happen while it stands still.
    setImmediate(() => this.#refused(reason)).unref()
  }

  #arm(): void {
    if (this.#end || !this.#is_possible) return
    if (hasReachedStackEnd()) {
      this.#refused(OVERFLOWED)
      return
    }
    try {
      this.#end = onThrow(this)
    } catch (error) {
      this.#refused(error instanceof NoPauses ? error.message : 'the inspector cannot be used')
    }
  }

  /**
   * Turns the pauses off after the first overflow. Node.js formats the stack of an error at each pause, by a call that V8
   * forbids while it throws an overflow. The check behind that aborts the process.
   */
  #endAfterOverflow(): void {
    this.#demand?.stop()
    this.#rest()
    this.#refused(OVERFLOWED)
  }

  #rest(): void {
    this.#end?.()
    this.#end = null
  }

  #refused(reason: string): void {
    if (!this.#is_possible) return
    this.#is_possible = false
    this.#parts.counters.add('local_variables_off')
    this.#parts.log.warn(`Local variables are off until the next start: ${reason}.`)
  }

  #framesOf(thrown: unknown): readonly ReadFrame[] | null {
    let value = thrown
    for (let depth = 0; depth < CAUSE_DEPTH && value !== undefined && value !== null; depth++) {
      if (isStackOverflow(value)) this.#has_overflowed = true
      const frames = this.#thrown.take(value)
      if (frames) return frames
      value = types.isNativeError(value) ? ownValue(value, 'cause') : undefined
    }
    return null
  }
}

function placeOf([first]: readonly LiveFrame[]): string {
  return first ? `${first.url}:${first.line}:${first.column}` : ''
}

/** Patterns of the host's own for variables are kept though the filter is off for the rest. */
function redactorOf(config: Options): Redactor {
  const { filter_sensitive_data, sensitive_data_patterns } = config
  const { local_variable_filter_patterns } = readOptions(config, localVariableOptions)
  if (!filter_sensitive_data && local_variable_filter_patterns.length === 0) return NO_REDACTION
  return createRedactor([...sensitive_data_patterns, ...local_variable_filter_patterns])
}

function limitsOf(config: Options): VariableLimits {
  const options = readOptions(config, localVariableOptions)
  return {
    variables: options.local_variable_max_count,
    depth: options.local_variable_max_depth,
    string: options.local_variable_max_string_length,
    array_items: options.local_variable_max_array_items,
    hash_items: options.local_variable_max_hash_items,
    instance_variables: options.enable_instance_variables ? options.instance_variable_max_count : null,
  }
}
