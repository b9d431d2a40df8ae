import type { FileChange } from './file-change.js'
import type { Host } from './host.js'

/** What init would do in a host, or asks its operator to do. */
export interface Plan {
  /** Where the application was found, for the operator to agree with. */
  readonly found: string
  readonly changes: readonly FileChange[]
  /** Files in which Faultboard is already. */
  readonly present: readonly string[]
  /** Where the dashboard will be, if not where it is by itself. */
  readonly dashboard_path?: string
  /** What is left to do by hand, each with its reason. */
  readonly by_hand: readonly Hand[]
}

export interface Hand {
  readonly reason: string
  readonly lines: readonly string[]
}

export interface Framework {
  /** As people call it. */
  readonly name: string
  /** The package that tells it; null: it needs none. */
  readonly package: string | null
  /** The oldest major version there is an adapter for. */
  readonly least_major?: number
  /** The lines for whoever writes them himself. */
  readonly lines: readonly string[]
  /** How the application is made, as a pattern, by what a file calls the package. */
  call?(names: Readonly<Record<string, string>>): string | undefined
  /** What to change, or null where the application was not found or is not understood. */
  plan(host: Host): Plan | null
}
