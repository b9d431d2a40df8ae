import { OTHER_ENVIRONMENT } from '../../model/environment.js'
import { MINUTE } from '../../model/time.js'
import { environmentsOfApplication } from '../../store/environments.js'
import type { CaptureContext } from '../capture-context.js'

/**
 * Number of environments per application beyond which clients cannot add more. Each environment multiplies the rows of
 * errors and rollups.
 */
export const MAX_CLIENT_ENVIRONMENTS = 20
/** Minimum time between two reads of the stored environments. */
const RELOAD_INTERVAL_MS = MINUTE

type ApplicationQuery = <T>(work: (application_id: number) => Promise<T>) => Promise<T | null>

/** Limits the environment names that clients can create, because every name has its own error records. */
export class ClientEnvironments {
  readonly #context: CaptureContext
  readonly #query: ApplicationQuery
  readonly #known: Set<string>
  #loaded: Promise<void> | null = null
  #loadedAt = Number.NEGATIVE_INFINITY

  constructor(context: CaptureContext, query: ApplicationQuery) {
    this.#context = context
    this.#query = query
    this.#known = new Set([context.config.environment])
  }

  /** Returns the name, or the shared name if the application has too many environments. */
  async admit(name: string): Promise<string> {
    if (this.#known.has(name)) return name
    await this.#reload()
    if (this.#known.has(name)) return name
    if (this.#known.size >= MAX_CLIENT_ENVIRONMENTS) {
      this.#context.counters.add('client_environment_left_out')
      return OTHER_ENVIRONMENT
    }
    this.#known.add(name)
    return name
  }

  /** Shares one query among concurrent callers. */
  async #reload(): Promise<void> {
    const now = this.#context.now()
    if (now >= this.#loadedAt + RELOAD_INTERVAL_MS) {
      this.#loadedAt = now
      this.#loaded = this.#load()
    }
    await this.#loaded
  }

  async #load(): Promise<void> {
    const { database } = this.#context
    const stored = await this.#query((application_id) => environmentsOfApplication(database.read, application_id))
    for (const name of stored ?? []) this.#known.add(name)
  }
}
