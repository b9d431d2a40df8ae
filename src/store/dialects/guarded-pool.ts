import { afterInactivity, type QueryTimeout } from '../query-timeout.js'

/** A driver's pool, which belongs to the tracker or to the host. */
export interface PoolParts<Connection> {
  acquire(): Promise<Connection>
  release(connection: Connection): void
  /** Closes the socket, which rejects the query that waits for a response. The pool replaces the connection. */
  destroy(connection: Connection): void
  ping(connection: Connection): Promise<unknown>
  idleCount(): number
  /** Opens a connection beside the pool, for which `destroy` works from the start; null if the pool cannot be copied. */
  openOutside(onOpening: (connection: Connection) => void): Promise<Connection> | null
  closeOutside(connection: Connection): void
}

/** A connection in use by the tracker. */
export interface LentConnection<Connection> {
  connection: Connection
  timeout: QueryTimeout | null
  query<T>(send: () => Promise<T>): Promise<T>
  release(): void
}

/** Returns the pool that Kysely sees, whose connections wait only as long as the timeout allows. */
export type Lender<Pool> = (timeout: QueryTimeout | null) => Pool

/** Lets several instances of Kysely share what is opened. A failed attempt is repeated by the next call. */
export function openedOnce<T>(open: () => Promise<T>): () => Promise<T> {
  let opened: Promise<T> | null = null
  return () => {
    opened ??= open().catch((error) => {
      opened = null
      throw error
    })
    return opened
  }
}

/** Enough for the response to a ping. A connection that fails to respond is replaced, which costs a new sign-in. */
const PING_MS = 1000

/**
 * Lends connections of a pool. With a limit on the time, a connection that does not respond is closed
 * and the idle connections are checked, because a fault of the network kills all of them. A pool that does not return a
 * connection in time is bypassed until it does: its own attempts to connect may hang much longer than the fault.
 */
export class GuardedPool<Connection> {
  readonly #parts: PoolParts<Connection>
  /** Requests for a connection that were given up, and that the pool has not served yet. */
  #overdue = 0
  #isChecking = false

  constructor(parts: PoolParts<Connection>) {
    this.#parts = parts
  }

  async lend(timeout: QueryTimeout | null): Promise<LentConnection<Connection>> {
    const { release, closeOutside } = this.#parts
    if (!timeout) {
      const connection = await this.#parts.acquire()
      return { connection, timeout, query: (send) => send(), release: () => release(connection) }
    }
    const outside = this.#overdue > 0 ? await this.#openOutside(timeout) : null
    const connection = outside ?? (await this.#acquire(timeout))
    timeout.lastResponseAt = performance.now()
    return {
      connection,
      timeout,
      query: (send) => this.#query(connection, timeout, send),
      release: () => (outside ? closeOutside(connection) : release(connection)),
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

  #acquire(timeout: QueryTimeout): Promise<Connection> {
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

  async #openOutside(timeout: QueryTimeout): Promise<Connection | null> {
    let opening: Connection | undefined
    const cancel = afterInactivity(timeout.ms, () => {
      timeout.hasExpired = true
      if (opening) this.#parts.destroy(opening)
    })
    try {
      const opened = this.#parts.openOutside((connection) => {
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
    const checks = Array.from({ length: this.#parts.idleCount() }, () => this.#checkOne())
    void Promise.allSettled(checks).then(() => {
      this.#isChecking = false
    })
  }

  async #checkOne(): Promise<void> {
    const connection = await this.#parts.acquire()
    const cancel = afterInactivity(PING_MS, () => this.#parts.destroy(connection))
    try {
      await this.#parts.ping(connection)
    } finally {
      cancel()
      this.#parts.release(connection)
    }
  }
}
