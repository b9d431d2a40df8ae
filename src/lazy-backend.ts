import type { Backend, BackendParts } from './backend.js'
import { failureMessage, TrackerError } from './model/errors.js'
import type { Database } from './store/database.js'

/**
 * Loads everything that uses the database in the background, to keep half of the code out of the host's startup. Errors
 * are buffered until then, as with a database that is not open yet.
 */
export class LazyBackend {
  readonly #parts: BackendParts
  #loading: Promise<Backend> | null = null
  #loaded: Backend | null = null

  constructor(parts: BackendParts) {
    this.#parts = parts
  }

  /** Starts loading with the first call. */
  load(): Promise<Backend> {
    this.#loading ??= this.#load()
    return this.#loading
  }

  async #load(): Promise<Backend> {
    try {
      const { createBackend } = await import('./backend.js')
      this.#loaded = createBackend(this.#parts)
      return this.#loaded
    } catch (cause) {
      throw new TrackerError('database_unavailable', `Cannot load the tracker: ${failureMessage(cause)}`, { cause })
    }
  }

  get loaded(): Backend {
    if (this.#loaded) return this.#loaded
    throw new TrackerError('database_unavailable', 'The tracker is still starting. Wait for Tracker.ready() first.')
  }

  /** The database. Queries are possible once it is loaded. */
  get database(): Database {
    const loaded = () => this.loaded.database
    const { target } = this.#parts
    return {
      target,
      get dialect() {
        return loaded().dialect
      },
      get read() {
        return loaded().read
      },
      write: async (work) => (await this.load()).database.write(work),
      onWritten: (listener) => loaded().onWritten(listener),
      classifyError: (error) => this.#loaded?.database.classifyError(error) ?? 'unavailable',
      isUnreachable: (error) => this.#loaded?.database.isUnreachable(error) ?? true,
      withTimeout: (timeout) => loaded().withTimeout(timeout),
      close: async () => this.#loaded?.database.close(),
    }
  }
}
