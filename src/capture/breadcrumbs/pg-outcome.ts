import { EventEmitter, errorMonitor } from 'node:events'
import { endBreadcrumb, errorCode, type PendingBreadcrumb } from './pending-breadcrumb.js'

type Callback = (error: unknown, result: unknown, ...rest: unknown[]) => unknown

/** Runs a query and records its outcome in the breadcrumb. The host sees the original behavior. */
export function runWatched(crumb: PendingBreadcrumb, values: unknown[], run: (values: unknown[]) => unknown): unknown {
  const callbackIndex = values.findLastIndex((value) => typeof value === 'function')
  if (callbackIndex > 0) {
    const callback = values[callbackIndex] as Callback
    const wrapped: Callback = function (this: unknown, error, result, ...rest) {
      recordOutcome(crumb, error, result)
      return Reflect.apply(callback, this, [error, result, ...rest])
    }
    return run(values.with(callbackIndex, wrapped))
  }
  const [config] = values
  if (isSubmittable(config)) watchEvents(crumb, config)
  let result: unknown
  try {
    result = run(values)
  } catch (error) {
    recordOutcome(crumb, error, undefined)
    throw error
  }
  if (!isPromise(result)) return result
  // Returns the observed promise: otherwise an unhandled rejection would count as handled.
  return result.then(
    (queryResult) => {
      recordOutcome(crumb, null, queryResult)
      return queryResult
    },
    (error: unknown) => {
      recordOutcome(crumb, error, undefined)
      throw error
    },
  )
}

function recordOutcome(crumb: PendingBreadcrumb, error: unknown, result: unknown): void {
  if (error) endBreadcrumb(crumb, { error: errorCode(error) })
  else endBreadcrumb(crumb, rowCount(result))
}

/**
 * Records the outcome of a query object, cursor or stream through its events. Adds no `error` listener, which would
 * prevent the error from being thrown.
 */
function watchEvents(crumb: PendingBreadcrumb, config: object): void {
  if (!(config instanceof EventEmitter)) return
  config.once('end', () => endBreadcrumb(crumb))
  config.once(errorMonitor, (error) => endBreadcrumb(crumb, { error: errorCode(error) }))
}

/** Detects a query, cursor or stream object, which drives the connection itself. */
export function isSubmittable(config: unknown): config is object {
  return typeof config === 'object' && config !== null && 'submit' in config && typeof config.submit === 'function'
}

function isPromise(value: unknown): value is Promise<unknown> {
  return typeof value === 'object' && value !== null && 'then' in value && typeof value.then === 'function'
}

function rowCount(result: unknown): { rows: number } | undefined {
  // A query with several statements returns a list of results.
  const lastResult: unknown = Array.isArray(result) ? result.at(-1) : result
  if (typeof lastResult !== 'object' || lastResult === null) return undefined
  const rows = Object.getOwnPropertyDescriptor(lastResult, 'rowCount')?.value
  return typeof rows === 'number' ? { rows } : undefined
}
