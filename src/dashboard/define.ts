import type * as v from 'valibot'
import type { Banner, Context } from '../context.js'
import type { HealthState } from '../health/report.js'
import type { TrackerError } from '../model/errors.js'
import type { Identity, Role } from '../model/people/identity.js'
import type { Application } from '../triage/list/list-applications.js'
import type { Theme } from './preferences.js'
import type { SignInLink } from './sign-in/sign-in-offer.js'
import type { ViewConfiguration } from './view-options.js'

/** Request data that views can use. */
export interface Visit extends ViewConfiguration {
  /** Mount path, the prefix of every link. */
  base: string
  /** Path of the page, relative to the mount path. */
  path: string
  query: URLSearchParams
  /** Name of the signed-in user; empty before the sign-in. */
  user: string
  identity: Identity | null
  /** Ways to sign in, on a 401 page. */
  sign_in_links: readonly SignInLink[]
  /** Flash message of the previous action. */
  notice: string | null
  banner: Banner | null
  now: number
  time_zone: string
  application_name: string
  /** Selected application; null for all applications. */
  application_id: number | null
  /** Selected environment; null for all environments. */
  environment: string | null
  /** True if the page shows all environments regardless of the selected environment. */
  ignoresEnvironment: boolean
  /** Environments of the selected application, for the switcher. */
  environments: readonly string[]
  /** All applications, for the switcher. */
  applications: readonly Application[]
  /** Destinations of the diagnostics. */
  navigation: readonly Destination[]
  theme: Theme
  /** True if scripts show exact times in the viewer's time zone. */
  shows_local_time: boolean
  /** Name that the person last entered in a form of the shared account. */
  actor_name: string | null
  /** True if the sidebar is collapsed to icons. */
  rail_folded: boolean
  /** End of the previous visit. */
  last_visit_at: number | null
  /** Version of Faultboard, and health of this process and of the channels as known without a query. */
  tracker: { version: string | null; state: HealthState }
}

// biome-ignore lint/suspicious/noExplicitAny: TypeScript does not distinguish elements from texts, lists and promises of them.
export type Rendered = any

/** Route with its description for the docs, the options that enable it and its parameters. */
export interface Endpoint<Schema extends v.GenericSchema = v.GenericSchema> {
  readonly path: string
  readonly text: string
  readonly needs?: string | readonly string[]
  /** Role required by the endpoint. Mandatory, so that no endpoint is open by mistake. */
  readonly role: Role
  readonly parameters: Schema
}

/** Page with an HTML view and a JSON representation. */
export interface Page<
  Schema extends v.GenericSchema = v.GenericSchema,
  Data = unknown,
  More = unknown,
  Response extends v.GenericSchema = v.GenericSchema,
  MoreJson = unknown,
> extends Endpoint<Schema> {
  /** For JSON, it can skip what only the HTML view needs and what HTML requests load at the same time as the rest. */
  load(context: Context, parameters: v.InferOutput<Schema>, visit: Visit, wantsJson: boolean): Promise<Data>
  /** Loads data that only the HTML view needs, so that JSON requests do not wait for it. */
  loadForHtml?(context: Context, data: Data, parameters: v.InferOutput<Schema>, visit: Visit): Promise<More>
  /** Loads data that only the JSON needs, because another page shows it. */
  loadForJson?(context: Context, data: Data, parameters: v.InferOutput<Schema>): Promise<MoreJson>
  title(data: Data, visit: Visit, parameters: v.InferOutput<Schema>): string
  /** Application name of the record on the page, for the document title. Default: the selected application. */
  applicationName?(data: Data): string
  /** Form next to the flash message of an action, for example to undo it. */
  noticeAction?(data: Data, visit: Visit): Rendered
  /** Content for rejected parameters, with the problem next to its field. Null for the default error page. */
  rejected?(error: TrackerError, context: Context, visit: Visit): Promise<Rendered | null>
  /**
   * Title of a page with slow queries. If loading takes long, the layout is sent first, and a later failure is shown on
   * the page. The status must therefore depend on the parameters only.
   */
  readonly streamedTitle?: string
  /** True if environments without errors can have data, so that every environment is accepted. */
  readonly acceptsAnyEnvironment?: boolean
  /** Health determined by the page, so that the sidebar shows the same state. */
  healthState?(data: Data): HealthState
  /** Schema of the JSON, also for OpenAPI. */
  readonly response: Response
  json(data: Data & MoreJson): v.InferOutput<Response>
  view(data: Data & More, visit: Visit, parameters: v.InferOutput<Schema>): Rendered
  /** `Link` header of a paginated page. */
  links?(data: Data, visit: Visit): string | null
  /** CSV export under the same path with `.csv`. */
  csv?(context: Context, parameters: v.InferOutput<Schema>): AsyncIterable<string>
}

/** JSON-only endpoint. */
export interface Feed<
  Schema extends v.GenericSchema = v.GenericSchema,
  Response extends v.GenericSchema = v.GenericSchema,
> extends Endpoint<Schema> {
  /** Schema of the JSON, also for OpenAPI. */
  readonly response: Response
  load(context: Context, parameters: v.InferOutput<Schema>, visit: Visit): Promise<v.InferOutput<Response>>
}

/** File download. */
export interface Download<Schema extends v.GenericSchema = v.GenericSchema> extends Endpoint<Schema> {
  load(context: Context, parameters: v.InferOutput<Schema>): Promise<DownloadedFile>
}

export interface DownloadedFile {
  name: string
  bytes: number
  body: ReadableStream<Uint8Array>
}

/** POST endpoint that changes data and then redirects to a page or shows a page. */
export interface Action<
  Schema extends v.GenericSchema = v.GenericSchema,
  Response extends v.GenericSchema = v.GenericSchema,
> extends Endpoint<Schema> {
  /** Schema of the JSON for API tokens, also for OpenAPI. */
  readonly response: Response
  /** Role for some parameters, if these need a different role than the rest of the action. */
  roleFor?(parameters: v.InferOutput<Schema>): Role
  run(
    context: Context,
    parameters: v.InferOutput<Schema>,
    actor: string,
  ): Promise<ActionResult<v.InferOutput<Response>>>
}

export interface ActionResult<Data = unknown> {
  /** Loads the changed record for JSON. A redirect does not need its queries. */
  json(): Data | Promise<Data>
  /** Redirect target, relative to the mount path. */
  to: string
  notice: string | null
  /** `Content-Location` of the created record, relative to the mount path. */
  created?: string
  /** Page to show instead of the redirect, for a secret that neither a URL nor a cookie may contain. */
  page?: { title: string; view(visit: Visit): Rendered }
  /** Preferences to store in cookies, by name. */
  preferences?: Readonly<Record<string, string>>
}

export function definePage<Schema extends v.GenericSchema, Data, More, Response extends v.GenericSchema, MoreJson>(
  page: Page<Schema, Data, More, Response, MoreJson>,
): Page {
  return page as unknown as Page
}

export function defineFeed<Schema extends v.GenericSchema, Response extends v.GenericSchema>(
  feed: Feed<Schema, Response>,
): Feed {
  return feed as unknown as Feed
}

export function defineDownload<Schema extends v.GenericSchema>(download: Download<Schema>): Download {
  return download as unknown as Download
}

export function defineAction<Schema extends v.GenericSchema, Response extends v.GenericSchema>(
  action: Action<Schema, Response>,
): Action {
  return action as unknown as Action
}

/** A navigation link. */
export interface Destination {
  readonly path: string
  readonly label: string
  /** SVG path data on a grid of 16 by 16. */
  readonly icon?: string
  readonly query?: LinkParameters
  /** Role required by the page, if not every role can open it. */
  readonly role?: Role
  /** Options that must be on to enable the page. */
  readonly needs?: readonly string[]
  /** Shown while the page is disabled. */
  readonly preview?: Preview
  /** Pages without a tab of their own. */
  readonly pages?: readonly Destination[]
}

/** Content of a disabled page. */
export interface Preview {
  /** Benefit in one sentence. */
  readonly benefit: string
  readonly sample: { readonly columns: readonly string[]; readonly rows: readonly (readonly string[])[] }
  /** Setup step in addition to the options. */
  readonly setup?: { readonly text: string; readonly code: string }
}

/** Endpoints that a diagnostic adds to the dashboard. */
export interface DashboardPart {
  readonly pages: readonly Page[]
  readonly downloads?: readonly Download[]
  readonly actions?: readonly Action[]
  /** Tab of the first page, shown as a card while the diagnostic is disabled. */
  readonly navigation: Required<Pick<Destination, 'label' | 'icon' | 'preview'>>
}

export type LinkParameters = Readonly<Record<string, string | number | boolean | null | undefined>>

/** All endpoints below the mount path. */
export interface Routes {
  readonly pages: readonly Page[]
  readonly feeds: readonly Feed[]
  readonly downloads: readonly Download[]
  readonly actions: readonly Action[]
  /** Destinations of the diagnostics. */
  readonly navigation: readonly Destination[]
}
