/** Where a handler of the host stands. */
export interface Origin {
  controller?: string
  handler?: string
}

/** Receives a thrown value with the arguments of its execution context: for HTTP the request, response and next. */
export type Report = (error: unknown, args: readonly unknown[], origin: Origin) => void

interface ExceptionsHandler {
  next(exception: unknown, host: { getArgs(): readonly unknown[] }): unknown
}

/** Makes, per handler of the host, what chooses among its exception filters. */
export interface FilterContext {
  create(instance: unknown, callback: unknown, ...more: unknown[]): ExceptionsHandler
}

/**
 * Reports what arrives at the filters, before one of them is chosen: Nest asks only the first that fits, so a filter of
 * ours would miss what a filter of the host takes.
 */
export function watchFilters(context: FilterContext, report: Report): void {
  const create = context.create
  context.create = function (instance, callback, ...more) {
    const handler = create.call(this, instance, callback, ...more)
    const next = handler.next
    const origin = originOf(instance, callback)
    handler.next = function (exception, host) {
      report(exception, host.getArgs(), origin)
      return next.call(this, exception, host)
    }
    return handler
  }
}

function originOf(instance: unknown, callback: unknown): Origin {
  const controller = (instance as object | null)?.constructor?.name
  // What Nest makes for unknown paths and for errors from outside its routes belongs to no class.
  if (!controller || controller === 'Object') return {}
  return { controller, handler: (callback as { name?: string } | null)?.name ?? '' }
}
