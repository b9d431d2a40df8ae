import { types } from 'node:util'
import { hasReachedStackLimit, isStackOverflow } from '../../capture/guards/stack-room.js'
import type { SourcePositions } from '../../capture/source-maps/source-positions.js'
import { type Options, readOptions } from '../../config/options.js'
import type { Log } from '../../context.js'
import type { Counters } from '../../model/counters.js'
import { createRedactor, NO_REDACTION, type Redactor } from '../../model/redaction/redaction.js'
import type { FrameVariables } from '../../model/stacks/frame-variables.js'
import { AdaptiveArming } from './adaptive-arming.js'
import { localVariableOptions } from './options.js'
import { originalFrames } from './original-frames.js'
import { PauseBudget } from './pause-budget.js'
import { type PauseReader, PausesUnavailable, pauseOnThrow } from './pause-session.js'
import type { LiveFrame } from './paused-frames.js'
import { type ReadFrame, readFrames, type VariableLimits } from './read-frames.js'
import { ThrownValues } from './thrown-values.js'
import { ownValue } from './value-text.js'

export interface LocalVariablesContext {
  config: Options
  positions: SourcePositions | undefined
  counters: Counters
  log: Log
  now(): number
}

/** Levels of causes to search for variables. */
const MAX_CAUSE_DEPTH = 5

const STACK_OVERFLOWED = 'the stack overflowed, and Node.js may abort a process that pauses at an overflow'

/**
 * Reads local variables where an error is thrown. While armed, the thread pauses at every throw, caught or not. The values
 * of the host's frames are stored with the thrown value until it is logged or garbage collected.
 */
export class LocalVariables implements PauseReader {
  readonly wantsThis: boolean
  readonly #context: LocalVariablesContext
  readonly #redactor: Redactor
  readonly #limits: VariableLimits
  readonly #budget: PauseBudget
  readonly #thrownValues = new ThrownValues<readonly ReadFrame[]>()
  readonly #adaptiveArming: AdaptiveArming | null
  #stopPauses: (() => void) | null = null
  #isAvailable = true
  #hasOverflowed = false

  constructor(context: LocalVariablesContext) {
    const { config, now } = context
    const options = readOptions(config, localVariableOptions)
    this.#context = context
    this.#redactor = variableRedactor(config)
    this.#limits = variableLimits(config)
    this.wantsThis = options.enable_instance_variables
    this.#budget = new PauseBudget({
      maxPerSecond: options.local_variable_max_per_second,
      maxMsPerSecond: options.local_variable_max_pause_ms_per_second,
    })
    const arming = { arm: () => this.#arm(), disarm: () => this.#disarm() }
    this.#adaptiveArming = options.local_variable_mode === 'adaptive' ? new AdaptiveArming(now, arming) : null
  }

  /** Arms immediately unless the mode is adaptive. Logs a warning if that is not possible. */
  start(): void {
    if (!this.#adaptiveArming) this.#arm()
  }

  stop(): void {
    this.#isAvailable = false
    this.#adaptiveArming?.stop()
    this.#disarm()
  }

  /** Returns the variables that were read when an error or one of its causes was thrown. */
  take(thrown: unknown, signature: string): readonly FrameVariables[] | null {
    const frames = this.#takeFrames(thrown)
    if (this.#hasOverflowed) this.#endAfterOverflow()
    if (this.#isAvailable) this.#adaptiveArming?.onLogged(signature, frames !== null)
    if (frames === null || frames.length === 0) return null
    const { config, positions } = this.#context
    return originalFrames(frames, { projectRoot: config.project_root, positions, redactor: this.#redactor })
  }

  get isOpen(): boolean {
    return this.#budget.isOpen && !this.#hasOverflowed && !hasReachedStackLimit()
  }

  read(thrown: unknown, frames: readonly LiveFrame[]): void {
    if (isStackOverflow(thrown)) this.#hasOverflowed = true
    if (frames.length === 0) this.#context.counters.add('local_variables_optimized')
    else this.#thrownValues.store(thrown, frameLocation(frames), () => readFrames(frames, this.#redactor, this.#limits))
  }

  spend(ms: number, hasRead: boolean): void {
    this.#budget.spend(ms, hasRead)
    if (this.#budget.isOpen) return
    this.#context.counters.add(
      this.#budget.hasReachedTimeLimit ? 'local_variables_time_limit' : 'local_variables_rate_limit',
    )
  }

  startNextSecond(): void {
    this.#budget.startNextSecond()
    if (this.#hasOverflowed || hasReachedStackLimit()) setImmediate(() => this.#endAfterOverflow()).unref()
  }

  onEnded(reason: string): void {
    this.#stopPauses = null
    // Deferred because logging can run host code, which must not happen during a pause.
    setImmediate(() => this.#turnOff(reason)).unref()
  }

  #arm(): void {
    if (this.#stopPauses || !this.#isAvailable) return
    if (hasReachedStackLimit()) {
      this.#turnOff(STACK_OVERFLOWED)
      return
    }
    try {
      this.#stopPauses = pauseOnThrow(this)
    } catch (error) {
      this.#turnOff(error instanceof PausesUnavailable ? error.message : 'the inspector is not available')
    }
  }

  /**
   * Turns pauses off after the first stack overflow. Node.js formats the stack of an error at each pause with a call that
   * V8 forbids while it throws an overflow. The failed check aborts the process.
   */
  #endAfterOverflow(): void {
    this.#adaptiveArming?.stop()
    this.#disarm()
    this.#turnOff(STACK_OVERFLOWED)
  }

  #disarm(): void {
    this.#stopPauses?.()
    this.#stopPauses = null
  }

  #turnOff(reason: string): void {
    if (!this.#isAvailable) return
    this.#isAvailable = false
    this.#context.counters.add('local_variables_off')
    this.#context.log.warn(`Local variables are off until the next start: ${reason}.`)
  }

  #takeFrames(thrown: unknown): readonly ReadFrame[] | null {
    let value = thrown
    for (let depth = 0; depth < MAX_CAUSE_DEPTH && value !== undefined && value !== null; depth++) {
      if (isStackOverflow(value)) this.#hasOverflowed = true
      const frames = this.#thrownValues.take(value)
      if (frames) return frames
      value = types.isNativeError(value) ? ownValue(value, 'cause') : undefined
    }
    return null
  }
}

function frameLocation([first]: readonly LiveFrame[]): string {
  return first ? `${first.url}:${first.line}:${first.column}` : ''
}

/** Applies patterns for variables even if `filter_sensitive_data` is off. */
function variableRedactor(config: Options): Redactor {
  const { filter_sensitive_data, sensitive_data_patterns } = config
  const { local_variable_filter_patterns } = readOptions(config, localVariableOptions)
  if (!filter_sensitive_data && local_variable_filter_patterns.length === 0) return NO_REDACTION
  return createRedactor([...sensitive_data_patterns, ...local_variable_filter_patterns])
}

function variableLimits(config: Options): VariableLimits {
  const options = readOptions(config, localVariableOptions)
  return {
    variables: options.local_variable_max_count,
    depth: options.local_variable_max_depth,
    stringLength: options.local_variable_max_string_length,
    arrayItems: options.local_variable_max_array_items,
    objectKeys: options.local_variable_max_hash_items,
    instanceVariables: options.enable_instance_variables ? options.instance_variable_max_count : null,
  }
}
