/** Class and method of a host handler. */
export interface Origin {
  controller?: string
  handler?: string
}

/** Receives a thrown value with the arguments of its execution context: for HTTP the request, response and next. */
export type Report = (error: unknown, args: readonly unknown[], origin: Origin) => void

interface ExceptionsHandler {
  next(exception: unknown, host: { getArgs(): readonly unknown[] }): unknown
}

/** Internal object of Nest that creates the exception handler for a handler of the host. */
export interface FilterContext {
  create(instance: unknown, callback: unknown, ...rest: unknown[]): ExceptionsHandler
}

/**
 * Reports errors before an exception filter is selected. Nest only calls the first matching filter, so a filter from
 * this package would miss errors handled by the host.
 */
export function watchFilters(context: FilterContext, report: Report): void {
  const create = context.create
  context.create = function (instance, callback, ...rest) {
    const handler = create.call(this, instance, callback, ...rest)
    const next = handler.next
    const origin = handlerOrigin(instance, callback)
    handler.next = function (exception, host) {
      report(exception, host.getArgs(), origin)
      return next.call(this, exception, host)
    }
    return handler
  }
}

function handlerOrigin(instance: unknown, callback: unknown): Origin {
  const controller = (instance as object | null)?.constructor?.name
  // Handlers that Nest creates for unknown paths and errors outside of routes have no class.
  if (!controller || controller === 'Object') return {}
  return { controller, handler: (callback as { name?: string } | null)?.name ?? '' }
}
