import type * as v from 'valibot'
import type { OptionName } from '../config/options.js'
import type { Context } from '../context.js'

/** What a view knows about the request it answers. */
export interface Visit {
  /** The mount path, in front of every link. */
  base: string
  /** Path below the mount, and query string, of this page. */
  path: string
  query: URLSearchParams
  /** The signed-in user. */
  user: string
  /** The one-time message of the action that led here. */
  notice: string | null
  now: number
  time_zone: string
  application_name: string
}

// biome-ignore lint/suspicious/noExplicitAny: hono/jsx types a rendered element as any.
export type Rendered = any

/** One address that shows something: what it takes, what it loads, how it looks, and so its JSON. */
export interface Page<Schema extends v.GenericSchema = v.GenericSchema, Data = unknown> {
  readonly path: string
  readonly text: string
  /** The option that turns the page on. */
  readonly needs?: OptionName
  readonly parameters: Schema
  load(context: Context, parameters: v.InferOutput<Schema>): Promise<Data>
  title(data: Data): string
  json(data: Data): unknown
  view(data: Data, visit: Visit, parameters: v.InferOutput<Schema>): Rendered
  /** The `Link` header of a paginated page. */
  links?(data: Data, visit: Visit): string | null
}

/** One address that changes something and leads on to a page. */
export interface Action<Schema extends v.GenericSchema = v.GenericSchema> {
  readonly path: string
  readonly text: string
  readonly needs?: OptionName
  readonly parameters: Schema
  run(context: Context, parameters: v.InferOutput<Schema>, actor: string): Promise<ActionResult>
}

export interface ActionResult {
  /** Path below the mount. */
  to: string
  notice: string
}

export function definePage<Schema extends v.GenericSchema, Data>(page: Page<Schema, Data>): Page {
  return page as unknown as Page
}

export function defineAction<Schema extends v.GenericSchema>(action: Action<Schema>): Action {
  return action as unknown as Action
}
