import { types } from 'node:util'
import { compileFunction } from 'node:vm'

/**
 * Registers of the probe frames, eight bytes each. V8 compares a frame with the stack limit before it enters the
 * function, and an unoptimized frame counts about twice. Measured on Node.js 20, 22 and 24: recording needs 10 KB once
 * its code is compiled, and 50 KB before. Describing a breadcrumb needs 7 KB.
 */
const RECORDING_REGISTERS = 4800
const BREADCRUMB_REGISTERS = 1600

/**
 * Detects a stack overflow. Needed in addition to the probes, because code that is not compiled yet may need more
 * stack.
 */
export function isStackOverflow(error: unknown): boolean {
  return types.isNativeError(error) && error instanceof RangeError && error.message.startsWith('Maximum call stack')
}

/**
 * Calls with arguments until V8 has optimized a probe on Node.js 20, which counts only executed code. The optimized probe
 * compares the stack limit without filling its frame, in 10 ns instead of 3 µs.
 */
const WARM_UP_CALLS = 500

type Frame = (callee: (() => void) | null) => void

/** Throws if its frame exceeds the stack limit. */
type Probe = () => void

/**
 * Returns a probe whose frame has this many registers, which V8 reserves for the arguments of a call. Compiled from
 * text, because the list of arguments would fill pages of source.
 */
function compileProbe(registers: number): Probe {
  const enter = compileFunction(`if (callee) callee(${'0,'.repeat(registers)}0)`, ['callee']) as Frame
  let calls = 0
  return () => {
    enter(null)
    if (calls++ < WARM_UP_CALLS) warmUp(enter)
  }
}

function warmUp(enter: Frame): void {
  try {
    enter(ignoreArguments)
  } catch {
    // Stack overflow: the arguments need space in addition to the frame.
  }
}

function ignoreArguments(): void {}

/**
 * Probes in small steps, ten times slower than a single frame. While the inspector watches throws, V8 aborts the
 * process if a call overflows over 1 KB before the stack limit. A single large frame would do so.
 */
const STEP_ARGUMENTS: readonly unknown[] = new Array(16).fill(0)
const STEP_BYTES = 180
let stepsLeft = 0

function recurse(): void {
  if (--stepsLeft > 0) Reflect.apply(recurse, undefined, STEP_ARGUMENTS)
}

function probeInSteps(registers: number): void {
  stepsLeft = (registers * 16) / STEP_BYTES
  recurse()
}

let isPausing = false

/** Selects the probe that is safe while the inspector pauses this thread at every throw. */
export function expectPauses(expected: boolean): void {
  isPausing = expected
}

let isLimitReached = false

/** Checks whether a probe has failed in this process, which means deep recursion that may overflow. */
export function hasReachedStackLimit(): boolean {
  return isLimitReached
}

let recordingProbe: Probe | null = null
let breadcrumbProbe: Probe | null = null

/** Compiles the probes while the stack is shallow. */
export function prepareStackProbes(): void {
  recordingProbe ??= compileProbe(RECORDING_REGISTERS)
  breadcrumbProbe ??= compileProbe(BREADCRUMB_REGISTERS)
  recordingProbe()
  breadcrumbProbe()
  probeInSteps(1)
}

/**
 * Checks whether the remaining stack is enough to record an error. V8 aborts the process if it has to compile a regular
 * expression near the stack limit. An overflow here would lose the error.
 */
export function hasRoomToRecord(): boolean {
  try {
    if (recordingProbe === null) prepareStackProbes()
    if (isPausing) probeInSteps(RECORDING_REGISTERS)
    else recordingProbe?.()
    return true
  } catch {
    isLimitReached = true
    return false
  }
}

/**
 * Checks whether the remaining stack is enough to describe a breadcrumb or a sighting. Costs a third of
 * `hasRoomToRecord`.
 */
export function hasRoomForBreadcrumb(): boolean {
  try {
    if (breadcrumbProbe === null) prepareStackProbes()
    if (isPausing) probeInSteps(BREADCRUMB_REGISTERS)
    else breadcrumbProbe?.()
    return true
  } catch {
    isLimitReached = true
    return false
  }
}
