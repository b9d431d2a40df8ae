import { types } from 'node:util'
import { compileFunction } from 'node:vm'

/**
 * Registers of the probe frames, eight bytes each. V8 compares a frame with the stack limit before it enters the
 * function, and an unoptimized frame counts about twice. The values come from measurements on Node.js 20, 22 and 24:
 * recording needs 10 KB once its code is compiled and 50 KB before. Describing a step needs 7 KB.
 */
const RECORDING_REGISTERS = 4800
const BREADCRUMB_REGISTERS = 1600

/** Whether an error is a stack overflow. The probes are estimates: code that is not compiled yet may need more. */
export function isStackOverflow(error: unknown): boolean {
  return types.isNativeError(error) && error instanceof RangeError && error.message.startsWith('Maximum call stack')
}

type Probe = (callee: null) => void

/**
 * Returns a function whose frame has this many registers and which does nothing. V8 reserves the registers for the
 * arguments of a call that never happens. Compiled from text, because the list of arguments would fill pages of source.
 */
function compileProbe(registers: number): Probe {
  return compileFunction(`if (callee) callee(${'0,'.repeat(registers)}0)`, ['callee']) as Probe
}

/**
 * A probe in small steps, ten times slower. V8 aborts the process when it pauses for an overflow more than about 1 KB
 * away from the stack limit. The other probe would cause that while the inspector watches throws.
 */
const STEP_ARGUMENTS: readonly unknown[] = new Array(16).fill(0)
const STEP_BYTES = 180
let stepsLeft = 0

function descend(): void {
  if (--stepsLeft > 0) Reflect.apply(descend, undefined, STEP_ARGUMENTS)
}

function stepDown(registers: number): void {
  stepsLeft = (registers * 16) / STEP_BYTES
  descend()
}

let isPausing = false

/** Selects the probe that is safe while the inspector pauses this thread at every throw. */
export function expectPauses(expected: boolean): void {
  isPausing = expected
}

let isLimitReached = false

/** Whether a probe has failed in this process, which means deep recursion that may overflow. */
export function hasReachedStackLimit(): boolean {
  return isLimitReached
}

let recordingProbe: Probe | null = null
let breadcrumbProbe: Probe | null = null

/** Compiles the probes while the stack is shallow. */
export function prepareStackProbes(): void {
  recordingProbe ??= compileProbe(RECORDING_REGISTERS)
  breadcrumbProbe ??= compileProbe(BREADCRUMB_REGISTERS)
  stepDown(1)
}

/**
 * Whether the remaining stack is enough to record an error. V8 aborts the process if it has to compile a regular
 * expression near the stack limit. An overflow here would lose the error.
 */
export function hasRoomToRecord(): boolean {
  try {
    if (recordingProbe === null) prepareStackProbes()
    if (isPausing) stepDown(RECORDING_REGISTERS)
    else recordingProbe?.(null)
    return true
  } catch {
    isLimitReached = true
    return false
  }
}

/** Whether the remaining stack is enough to describe a breadcrumb or a sighting. Costs a third of `hasRoomToRecord`. */
export function hasRoomForBreadcrumb(): boolean {
  try {
    if (breadcrumbProbe === null) prepareStackProbes()
    if (isPausing) stepDown(BREADCRUMB_REGISTERS)
    else breadcrumbProbe?.(null)
    return true
  } catch {
    isLimitReached = true
    return false
  }
}
