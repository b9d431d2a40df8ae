import { EventEmitter, errorMonitor } from 'node:events'
import { endStep, errorCode, type PendingStep } from './pending-step.js'

type Callback = (error: unknown, result: unknown, ...rest: unknown[]) => unknown

/** Runs a query and records its outcome in the step. The host sees the original behavior. */
export function runWatched(step: PendingStep, values: unknown[], run: (values: unknown[]) => unknown): unknown {
  const callbackIndex = values.findLastIndex((value) => typeof value === 'function')
  if (callbackIndex > 0) {
    const callback = values[callbackIndex] as Callback
    const wrapped: Callback = function (this: unknown, error, result, ...rest) {
      recordOutcome(step, error, result)
      return Reflect.apply(callback, this, [error, result, ...rest])
    }
    return run(values.with(callbackIndex, wrapped))
  }
  const [config] = values
  if (isSubmittable(config)) watchEvents(step, config)
  let result: unknown
  try {
    result = run(values)
  } catch (error) {
    recordOutcome(step, error, undefined)
    throw error
  }
  if (!isPromise(result)) return result
  // Returns the watched promise: a second branch would hide an unhandled rejection.
  return result.then(
    (queryResult) => {
      recordOutcome(step, null, queryResult)
      return queryResult
    },
    (error: unknown) => {
      recordOutcome(step, error, undefined)
      throw error
    },
  )
}

function recordOutcome(step: PendingStep, error: unknown, result: unknown): void {
  if (error) endStep(step, { error: errorCode(error) })
  else endStep(step, rowCount(result))
}

/**
 * Records the outcome of a query object, cursor or stream through its events. Adds no `error` listener, which would
 * prevent the error from being thrown.
 */
function watchEvents(step: PendingStep, config: object): void {
  if (!(config instanceof EventEmitter)) return
  config.once('end', () => endStep(step))
  config.once(errorMonitor, (error) => endStep(step, { error: errorCode(error) }))
}

/** Detects a query, cursor or stream object, which drives the connection itself. */
export function isSubmittable(config: unknown): config is object {
  return typeof config === 'object' && config !== null && 'submit' in config && typeof config.submit === 'function'
}

function isPromise(value: unknown): value is Promise<unknown> {
  return typeof value === 'object' && value !== null && 'then' in value && typeof value.then === 'function'
}

function rowCount(result: unknown): { rows: number } | undefined {
  // A text with several statements has several results.
  const lastResult: unknown = Array.isArray(result) ? result.at(-1) : result
  if (typeof lastResult !== 'object' || lastResult === null) return undefined
  const rows = Object.getOwnPropertyDescriptor(lastResult, 'rowCount')?.value
  return typeof rows === 'number' ? { rows } : undefined
}
