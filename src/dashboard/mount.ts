/** Mount of the dashboard in the host, provided by the adapter. */
export interface Mount {
  /** Prefix of every link, such as `/error_dashboard`. */
  base: string
  /** Path below the mount, as the client sent it. */
  path: string
  /** Client address according to the host's framework. */
  remote_address: string | null
  /** Peer of the connection, if it can differ from the client: a proxy that the framework trusts. */
  peer_address?: string | null
  /** Whether the client used HTTPS. Defaults to the scheme of the request URL. */
  encrypted?: boolean
  /** Request of the host's framework, for `authenticate`. Defaults to the standard Request. */
  host_request?: unknown
  /** Returns whether the host's server has stopped listening, so that streams can end. */
  closing?: () => boolean
}
