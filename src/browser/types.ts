/** Hears an event of the window before the page does, until the client is stopped. */
export type Listen = <T>(type: string, heard: (event: T) => void) => void

/** A step before an error. */
export interface ClientBreadcrumb {
  category: string
  message: string
  duration_ms?: number
  metadata?: object
}

export interface KeptBreadcrumb extends ClientBreadcrumb {
  timestamp: number
}

/** What is told of an error beside itself. */
export interface Details {
  component?: string | undefined
  tags?: object | undefined
  context?: object | undefined
}

/** An error as it is sent: the contract of the reporting endpoint. */
export interface ClientEvent extends Details {
  event_id: string
  error_type: string
  message: string
  stack: string
  platform: string
  app_version: string
  url: string
  timestamp: number
  device_info: object
  user_id?: string | number | undefined
  breadcrumbs: object[]
  /** How often it happened before it was sent. */
  count: number
}

export interface BrowserOptions {
  /** Where the host has mounted its reporting endpoint: `/client_errors`. */
  endpoint: string
  /** The release of this page; also finds its source maps. */
  app_version: string
  /** Sent with every report. */
  headers?: Record<string, string>
  /** Sent as `Authorization: Bearer`. */
  token?: string
  /** Whether cookies go along to an endpoint of another origin. */
  credentials?: RequestCredentials
  /** The share of errors that is sent, 0 to 1. Default 1. */
  sample_rate?: number
  /** Default 60. Repeats that were folded count once. */
  max_per_minute?: number
  /** Errors that are not sent: a text that `Type: message` contains, or a pattern that it matches. */
  ignore?: readonly (string | RegExp)[]
  /** Changes an event, or gives null to drop it. One that throws drops it, too. */
  before_send?(event: ClientEvent): ClientEvent | null | undefined
  /** Whether `console.error` reports. Default false. */
  console?: boolean
  /** Whether scripts, styles and images that do not load are reported. Default false. */
  resources?: boolean
  /** Whether the steps before an error are kept. Default true. */
  breadcrumbs?: boolean
}

export interface BrowserClient {
  /** Reports what was caught. Of one error object only the first report counts; the next adds its details to it. */
  report(error: unknown, more?: Details): void
  addBreadcrumb(crumb: ClientBreadcrumb): void
  /** A copy of it, taken now, goes with every error from now on. */
  setContext(values: object): void
  /** Believed only where the endpoint has `trust_user`. */
  setUser(user_id: string | number | null): void
  /** Sends what is waiting; settles when that has been answered, or cannot be sent now. */
  flush(): Promise<void>
  /** Puts everything back as it was and sends what is waiting. */
  stop(): Promise<void>
}
