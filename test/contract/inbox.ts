import type { IncomingHttpHeaders } from 'node:http'
import type { Settings } from '../../src/options.js'

/** How a receiver treats what it is sent. */
export type Manner = 'accept' | 'busy' | 'broken' | 'refuse' | 'hang' | 'half' | 'redirect' | 'echo'

/** A real server on this machine that takes what a channel sends. */
export interface Inbox {
  /** What makes the channel send here. */
  settings: Settings
  /** What the settings hold that nobody may read in a log. */
  secrets: readonly string[]
  letters: Letter[]
  manner: Manner
  /** Settles when somebody has connected. */
  visited(): Promise<void>
  close(): Promise<void>
}

export interface Letter {
  /** By which a receiver can tell a repeat. */
  key: string
  headers: IncomingHttpHeaders | Readonly<Record<string, string>>
  /** As it came. */
  raw: string
  /** All that a person can read of it, or a program. */
  text: string
}
