import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { CommandFailed } from '../command.js'
import type { SampleOptions } from './sample.js'

export interface SimulationInput extends SampleOptions {
  /** Address of the shop. */
  shop_url: string
}

/** `ready` when there is enough history to show, `complete` when all of it is recorded. */
export type SimulationMessage = { state: 'ready' | 'complete' } | { state: 'failed'; reason: string }

/** Relative to the chunk of the package that contains this module. */
const SIMULATION_FILE = fileURLToPath(new URL('../cli/demo/simulation.js', import.meta.url))

/** The customers of the shop, and the other applications with their history, in a separate process. */
export class SimulationProcess {
  readonly #child: ChildProcess
  readonly #exited: Promise<unknown>
  #isHistoryComplete = false

  constructor() {
    this.#child = fork(SIMULATION_FILE, {
      stdio: ['ignore', 'ignore', process.env.FAULTBOARD_DEBUG ? 'inherit' : 'ignore', 'ipc'],
    })
    this.#exited = once(this.#child, 'exit')
    this.#child.on('message', ({ state }: SimulationMessage) => {
      if (state === 'complete') this.#isHistoryComplete = true
    })
  }

  get isHistoryComplete(): boolean {
    return this.#isHistoryComplete
  }

  /** Resolves when there is enough history to show. */
  async start(input: SimulationInput): Promise<void> {
    this.#child.send(input)
    const message = await Promise.race([
      once(this.#child, 'message').then(([received]) => received as SimulationMessage),
      this.#exited.then(() => ({ state: 'failed', reason: 'the process has ended' }) as const),
    ])
    if (message.state === 'failed') throw new CommandFailed(`Could not record the sample errors: ${message.reason}`)
  }

  async stop(): Promise<void> {
    if (this.#child.connected) this.#child.disconnect()
    if (this.#child.exitCode === null && this.#child.signalCode === null && this.#child.pid) await this.#exited
  }
}
