/** Listens for a window event in the capture phase, until the client is stopped. */
export type Listen = <T>(type: string, handler: (event: T) => void) => void

/** Something that happened on the page before an error, such as a click or a request. */
export interface ClientBreadcrumb {
  category: string
  message: string
  duration_ms?: number
  metadata?: object
}

export interface StoredBreadcrumb extends ClientBreadcrumb {
  timestamp: number
}

/** Additional data about an error. */
export interface Details {
  component?: string | undefined
  tags?: object | undefined
  context?: object | undefined
}

/** An error in the format of the reporting endpoint. */
export interface ClientEvent extends Details {
  event_id: string
  error_type: string
  message: string
  stack: string
  platform: string
  app_version: string
  environment?: string | undefined
  url: string
  timestamp: number
  device_info: object
  user_id?: string | number | undefined
  breadcrumbs: object[]
  /** Number of occurrences combined in this event. */
  count: number
}

/** Names with an underscore are accepted in camelCase too. */
export type BrowserOptions = CommonOptions &
  ({ app_version: string; appVersion?: undefined } | { app_version?: undefined; appVersion: string })

interface CommonOptions {
  /** URL of the host's reporting endpoint, such as `/client_errors`. */
  endpoint: string
  /** Release of this page; also identifies its source maps. */
  app_version?: string | undefined
  appVersion?: string | undefined
  /** Environment of this page. Default: the environment of the endpoint. */
  environment?: string | undefined
  /** Sent with every report. */
  headers?: Record<string, string>
  /** Sent as `Authorization: Bearer`. */
  token?: string
  /** Credentials mode of requests. Default `same-origin`; `include` sends cookies to a cross-origin endpoint. */
  credentials?: RequestCredentials
  /** Share of errors to send, 0 to 1. Default 1. */
  sample_rate?: number
  sampleRate?: number
  /** Maximum events per minute. Default 60. Combined repeats count once. */
  max_per_minute?: number
  maxPerMinute?: number
  /** Errors that are not sent: substrings of `Type: message`, or patterns that match it. */
  ignore?: readonly (string | RegExp)[]
  /** Changes an event, or returns null to drop it. Throwing drops it too. */
  before_send?(event: ClientEvent): ClientEvent | null | undefined
  beforeSend?(event: ClientEvent): ClientEvent | null | undefined
  /** Reports calls of `console.error`. Default false. */
  console?: boolean
  /** Reports failed loads of scripts, styles and images. Default false. */
  resources?: boolean
  /** Records breadcrumbs. Default true. */
  breadcrumbs?: boolean
}

export interface BrowserClient {
  /** Reports a caught error. Only the first report of an error object counts; later reports add their details. */
  report(error: unknown, more?: Details): void
  addBreadcrumb(crumb: ClientBreadcrumb): void
  /** Copies the values and adds them to every error from now on. */
  setContext(values: object): void
  /** Trusted only if the endpoint has `trust_user`. */
  setUser(user_id: string | number | null): void
  /** Sends pending events. Resolves when they are sent, or cannot be sent now. */
  flush(): Promise<void>
  /** Removes all hooks from the page and sends pending events. */
  stop(): Promise<void>
}
