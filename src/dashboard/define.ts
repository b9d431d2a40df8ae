import type * as v from 'valibot'
import type { SwitchName } from '../config/options.js'
import type { Context } from '../context.js'
import type { HealthState } from '../health/report.js'
import type { Application } from '../triage/list/list-applications.js'
import type { LinkParameters } from './href.js'
import type { Schema as ResponseSchema } from './openapi/schema.js'
import type { Theme } from './preferences.js'
import type { ViewConfiguration } from './view-options.js'

/** What a view knows about the request it answers. */
export interface Visit extends ViewConfiguration {
  /** The mount path, in front of every link. */
  base: string
  /** Path below the mount of this page. */
  path: string
  query: URLSearchParams
  /** The signed-in user. */
  user: string
  /** The one-time message of the action that led here. */
  notice: string | null
  now: number
  time_zone: string
  application_name: string
  /** The application that is looked at; null is all of them together. */
  application_id: number | null
  /** All that report here, for the switcher. */
  applications: readonly Application[]
  /** Destinations of the diagnostics. */
  navigation: readonly Destination[]
  theme: Theme
  /** Whether the rail shows only its icons. */
  rail_folded: boolean
  /** When this visitor was here the time before. */
  last_visit_at: number | null
  /** The version of Faultboard, and how the tracker of this process is doing as far as it knows by itself. */
  tracker: { version: string | null; state: HealthState }
}

// biome-ignore lint/suspicious/noExplicitAny: hono/jsx types a rendered element as any.
export type Rendered = any

/** What every address has: a route, a line of text for the docs, the options that turn it on, what it takes. */
export interface Endpoint<Schema extends v.GenericSchema = v.GenericSchema> {
  readonly path: string
  readonly text: string
  readonly needs?: SwitchName | readonly SwitchName[]
  readonly parameters: Schema
}

/** One address that shows something: what it takes, what it loads, how it looks, and so its JSON. */
export interface Page<Schema extends v.GenericSchema = v.GenericSchema, Data = unknown, More = unknown>
  extends Endpoint<Schema> {
  load(context: Context, parameters: v.InferOutput<Schema>, visit: Visit): Promise<Data>
  /** What only people are shown beside it: programs, which read the JSON, must not wait for it. */
  furnish?(context: Context, data: Data, parameters: v.InferOutput<Schema>, visit: Visit): Promise<More>
  title(data: Data, visit: Visit): string
  /** The state of the tracker, if the page has determined it: the navigation then shows the same. */
  healthState?(data: Data): HealthState
  json(data: Data): unknown
  /** The schema of the JSON, for OpenAPI. */
  // biome-ignore lint/suspicious/noExplicitAny: every page has its own type.
  readonly response?: ResponseSchema<any>
  view(data: Data & More, visit: Visit, parameters: v.InferOutput<Schema>): Rendered
  /** The `Link` header of a paginated page. */
  links?(data: Data, visit: Visit): string | null
  /** What the same address answers with `.csv`. */
  csv?(context: Context, parameters: v.InferOutput<Schema>): AsyncIterable<string>
}

/** One address that answers programs only, in JSON. */
export interface Feed<Schema extends v.GenericSchema = v.GenericSchema, Data = unknown> extends Endpoint<Schema> {
  load(context: Context, parameters: v.InferOutput<Schema>, visit: Visit): Promise<Data>
}

/** One address that gives a file. */
export interface Download<Schema extends v.GenericSchema = v.GenericSchema> extends Endpoint<Schema> {
  load(context: Context, parameters: v.InferOutput<Schema>): Promise<DownloadedFile>
}

export interface DownloadedFile {
  name: string
  bytes: number
  body: ReadableStream<Uint8Array>
}

/** One address that changes something and leads on to a page. */
export interface Action<Schema extends v.GenericSchema = v.GenericSchema> extends Endpoint<Schema> {
  run(context: Context, parameters: v.InferOutput<Schema>, actor: string): Promise<ActionResult>
}

export interface ActionResult {
  /** Path below the mount. */
  to: string
  notice: string | null
  /** Path below the mount of what was made, for programs. */
  made?: string
  /** Name and value of what the browser is to remember. */
  remember?: Readonly<Record<string, string>>
}

export function definePage<Schema extends v.GenericSchema, Data, More>(page: Page<Schema, Data, More>): Page {
  return page as unknown as Page
}

export function defineFeed<Schema extends v.GenericSchema, Data>(feed: Feed<Schema, Data>): Feed {
  return feed as unknown as Feed
}

export function defineDownload<Schema extends v.GenericSchema>(download: Download<Schema>): Download {
  return download as unknown as Download
}

export function defineAction<Schema extends v.GenericSchema>(action: Action<Schema>): Action {
  return action as unknown as Action
}

/** A link of the navigation. */
export interface Destination {
  readonly path: string
  readonly label: string
  /** SVG path data on a grid of 16 by 16. */
  readonly icon: string
  readonly query?: LinkParameters
  /** The options without which the page is switched off. */
  readonly needs?: readonly SwitchName[]
}

/** Endpoints that a diagnostic adds to the dashboard. */
export interface DashboardPart {
  readonly pages: readonly Page[]
  readonly downloads?: readonly Download[]
  readonly actions?: readonly Action[]
  /** The link to the first page. */
  readonly navigation: Pick<Destination, 'label' | 'icon'>
}
