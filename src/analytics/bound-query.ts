import type { Context } from '../context.js'

/** A query that is made with `new` and asked several things, each by a method. */
export type QueryClass<Input, Query> = new (context: () => Context, input?: Input) => Query

/**
 * The same class for a tracker: made without a context, which is looked up when something is asked.
 *
 * @example
 * Queries = { PlatformComparison: boundQuery(PlatformComparison, () => this.#context()) }
 */
export function boundQuery<Input, Query>(
  query: QueryClass<Input, Query>,
  context: () => Context,
): new (
  input?: Input,
) => Query {
  function Bound(input?: Input): Query {
    return new query(context, input)
  }
  return Bound as unknown as new (
    input?: Input,
  ) => Query
}
