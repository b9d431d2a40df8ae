/** Where the dashboard stands, as the adapter knows it. */
export interface Mount {
  /** Path in front of every link, such as `/error_dashboard`. */
  base: string
  /** Path below the mount, as the client sent it. */
  path: string
  /** The client, as far as the host's framework knows. */
  remote_address: string | null
  /** Who is at the other end of the connection, where that may be another: a proxy the framework was told about. */
  peer_address?: string | null
  /** Whether the client used HTTPS. Without it, the scheme of the request's URL decides. */
  encrypted?: boolean
  /** Whether the host's server has stopped to listen: what streams must not keep it from ending. */
  closing?: () => boolean
}
