import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { CommandFailed } from '../command.js'
import type { HostInput, HostMethods } from './host.js'

/** Relative to the chunk of the package that contains this module. */
const HOST_FILE = fileURLToPath(new URL('../cli/prove/host.js', import.meta.url))

type Result<Method extends keyof HostMethods> = Awaited<ReturnType<HostMethods[Method]>>
type Settle = (message: { result?: unknown; error?: string }) => void

/** A small host application in its own process, which is killed when `stop` aborts. */
export class HostProcess {
  readonly #child: ChildProcess
  readonly #exited: Promise<unknown>
  readonly #pending = new Map<number, Settle>()
  #calls = 0
  origin = ''
  /** Empty without Faultboard. */
  mount_path = ''
  /** Credentials of the dashboard. */
  headers: Record<string, string> = {}

  private constructor(stop: AbortSignal) {
    this.#child = fork(HOST_FILE, {
      execArgv: [...process.execArgv, '--expose-gc'],
      stdio: ['ignore', 'ignore', process.env.FAULTBOARD_DEBUG ? 'inherit' : 'ignore', 'ipc'],
      signal: stop,
      killSignal: 'SIGKILL',
    })
    this.#exited = once(this.#child, 'exit')
    this.#child.on('message', ({ id, ...message }: { id: number; result?: unknown; error?: string }) => {
      this.#pending.get(id)?.(message)
      this.#pending.delete(id)
    })
    const fail = (reason: string) => {
      for (const settle of this.#pending.values()) settle({ error: reason })
      this.#pending.clear()
    }
    this.#child.on('error', (error) => fail(error.message))
    this.#child.on('exit', (code, signal) => fail(`the process ended with ${signal ?? `code ${code}`}`))
  }

  static async start(input: HostInput, stop: AbortSignal): Promise<HostProcess> {
    const host = new HostProcess(stop)
    try {
      Object.assign(host, await host.call('start', input))
      const { dashboard_username, dashboard_password } = input.tracker ?? {}
      const credentials = Buffer.from(`${dashboard_username}:${dashboard_password}`).toString('base64')
      if (input.tracker) host.headers = { authorization: `Basic ${credentials}` }
      return host
    } catch (error) {
      await host.stop()
      throw error
    }
  }

  get pid(): number {
    return this.#child.pid ?? 0
  }

  async call<Method extends keyof HostMethods>(
    method: Method,
    ...[input]: Parameters<HostMethods[Method]>
  ): Promise<Result<Method>> {
    const id = this.#calls++
    const { result, error } = await new Promise<Parameters<Settle>[0]>((settle) => {
      this.#pending.set(id, settle)
      if (this.#child.connected) this.#child.send({ id, method, input })
      else settle({ error: 'the process has ended' })
    })
    if (error === undefined) return result as Result<Method>
    throw new CommandFailed(`The measured host failed: ${error}. Set FAULTBOARD_DEBUG=1 to see its log.`)
  }

  async stop(): Promise<void> {
    if (this.#child.connected) this.#child.disconnect()
    if (this.#child.exitCode === null && this.#child.signalCode === null && this.#child.pid) await this.#exited
  }
}
