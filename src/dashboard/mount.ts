/** Mount of the dashboard in the host, provided by the adapter. */
export interface Mount {
  /** Prefix of every link, such as `/error_dashboard`. */
  base: string
  /** Path below the mount, as the client sent it. */
  path: string
  /** Client address according to the host's framework. */
  remote_address: string | null
  /** Peer of the connection, if a proxy that the framework trusts can make it differ from the client. */
  peer_address?: string | null
  /** True if the client used HTTPS. Default: the scheme of the request URL. */
  encrypted?: boolean
  /** Request of the host's framework, for `authenticate`. Default: the standard Request. */
  host_request?: unknown
  /** Returns whether the host's server has stopped listening, so that streams can end. */
  closing?: () => boolean
}
