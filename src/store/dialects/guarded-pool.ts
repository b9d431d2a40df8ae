import { afterInactivity, type QueryTimeout } from '../sql/query-timeout.js'

/** Operations on the pool of a driver. The pool belongs to the tracker or to the host. */
export interface PoolParts<Connection> {
  acquire(): Promise<Connection>
  release(connection: Connection): void
  /** Closes the socket, which rejects the pending query. The pool replaces the connection. */
  destroy(connection: Connection): void
  ping(connection: Connection): Promise<unknown>
  idleCount(): number
  /** Opens a connection outside the pool. `onOpening` makes it destroyable early. Null if the pool has no options. */
  openUnpooled(onOpening: (connection: Connection) => void): Promise<Connection> | null
  closeUnpooled(connection: Connection): void
}

/** Connection in use by the tracker. */
export interface GuardedConnection<Connection> {
  connection: Connection
  timeout: QueryTimeout | null
  query<T>(send: () => Promise<T>): Promise<T>
  release(): void
}

/** Creates the pool for Kysely, whose queries respect the timeout. */
export type PoolFactory<Pool> = (timeout: QueryTimeout | null) => Pool

/** Shares one pool between several Kysely instances. The next call retries a failed attempt. */
export function openOnce<T>(open: () => Promise<T>): () => Promise<T> {
  let opened: Promise<T> | null = null
  return () => {
    opened ??= open().catch((error) => {
      opened = null
      throw error
    })
    return opened
  }
}

/** Timeout of a ping. A connection that does not respond is replaced, which requires authentication again. */
const PING_TIMEOUT_MS = 1000

/**
 * Adds timeouts to the connections of a pool. Closes a connection that does not respond and pings all idle connections,
 * because a network failure breaks all of them. Bypasses a pool that returns no connection in time, because its own
 * connection attempts may hang much longer than the outage.
 */
export class GuardedPool<Connection> {
  readonly #parts: PoolParts<Connection>
  /** Number of timed-out requests for a connection that the pool has not served yet. */
  #overdue = 0
  #isChecking = false

  constructor(parts: PoolParts<Connection>) {
    this.#parts = parts
  }

  async acquire(timeout: QueryTimeout | null): Promise<GuardedConnection<Connection>> {
    const { release, closeUnpooled } = this.#parts
    if (!timeout) {
      const connection = await this.#parts.acquire()
      return { connection, timeout, query: (send) => send(), release: () => release(connection) }
    }
    const unpooled = this.#overdue > 0 ? await this.#openUnpooled(timeout) : null
    const connection = unpooled ?? (await this.#acquireInTime(timeout))
    timeout.lastResponseAt = performance.now()
    return {
      connection,
      timeout,
      query: (send) => this.#query(connection, timeout, send),
      release: () => (unpooled ? closeUnpooled(connection) : release(connection)),
    }
  }

  async #query<T>(connection: Connection, timeout: QueryTimeout, send: () => Promise<T>): Promise<T> {
    const cancel = afterInactivity(timeout.ms, () => {
      timeout.hasExpired = true
      this.#parts.destroy(connection)
      this.#checkIdle()
    })
    try {
      return await send()
    } finally {
      cancel()
      timeout.lastResponseAt = performance.now()
    }
  }

  #acquireInTime(timeout: QueryTimeout): Promise<Connection> {
    return new Promise((resolve, reject) => {
      let isOverdue = false
      const cancel = afterInactivity(timeout.ms, () => {
        isOverdue = true
        this.#overdue++
        timeout.hasExpired = true
        reject(new Error('timeout exceeded when trying to connect'))
      })
      const onSettled = () => {
        cancel()
        if (isOverdue) this.#overdue--
      }
      this.#parts.acquire().then(
        (connection) => {
          onSettled()
          if (isOverdue) this.#parts.release(connection)
          else resolve(connection)
        },
        (error) => {
          onSettled()
          reject(error)
        },
      )
    })
  }

  async #openUnpooled(timeout: QueryTimeout): Promise<Connection | null> {
    let opening: Connection | undefined
    const cancel = afterInactivity(timeout.ms, () => {
      timeout.hasExpired = true
      if (opening) this.#parts.destroy(opening)
    })
    try {
      const opened = this.#parts.openUnpooled((connection) => {
        opening = connection
      })
      return opened && (await opened)
    } finally {
      cancel()
    }
  }

  #checkIdle(): void {
    if (this.#isChecking) return
    this.#isChecking = true
    const checks = Array.from({ length: this.#parts.idleCount() }, () => this.#pingIdleConnection())
    void Promise.allSettled(checks).then(() => {
      this.#isChecking = false
    })
  }

  async #pingIdleConnection(): Promise<void> {
    const connection = await this.#parts.acquire()
    const cancel = afterInactivity(PING_TIMEOUT_MS, () => this.#parts.destroy(connection))
    try {
      await this.#parts.ping(connection)
    } finally {
      cancel()
      this.#parts.release(connection)
    }
  }
}
