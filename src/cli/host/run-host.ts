import { createServer, type RequestListener } from 'node:http'
import type { TrackerInstance } from '../../tracker.js'
import { colorize } from '../io/colors.js'
import { jsonLine, print } from '../io/terminal.js'
import { type Endpoint, listen, stopListening } from './listen.js'
import { aborted } from './stop-signal.js'

export interface HostOptions {
  tracker: TrackerInstance
  /** Request listener of the application, including the dashboard. */
  listener: RequestListener
  endpoint: Endpoint
  stop: AbortSignal
  /** Work to do before the URL is printed, while the port is already in use. */
  prepare?: (url: string) => Promise<void>
  database: string
  /** Generated password, or null for a configured password, which is not printed. */
  password?: string | null
  /** Print one line of JSON instead of text. */
  json: boolean
}

/** Serves the application and the dashboard, prints the URLs, and runs until stopped. */
export async function runHost(options: HostOptions): Promise<void> {
  const { listener, endpoint, stop, prepare, json } = options
  const server = createServer(listener)
  const address = await listen(server, endpoint)
  await prepare?.(address)
  if (json) printReadyJson(address, options)
  else printReadyText(address, options)
  await aborted(stop)
  if (!json) print('Stopping.')
  await stopListening(server)
}

function printReadyJson(address: string, { tracker, database, password }: HostOptions): void {
  const { mount_path, dashboard_username: username } = tracker.config
  const url = `${address}${mount_path}`
  print(
    jsonLine({ url, username, ...(password === undefined ? {} : { password }), database, sample_url: `${address}/` }),
  )
}

function printReadyText(address: string, { tracker, database, password }: HostOptions): void {
  const { mount_path, dashboard_username } = tracker.config
  const lines = [
    ['Dashboard', `${address}${mount_path}`],
    ...(dashboard_username === null ? [] : [['User', dashboard_username] as const]),
    ...(password === undefined ? [] : [['Password', password ?? 'the configured password'] as const]),
    ['Database', database],
    ['Try it', `${address}/ has routes that fail`],
  ] as const
  print('Faultboard is running. Press Ctrl+C to stop.\n')
  for (const [label, text] of lines) print(`  ${colorize('bold', label)}${' '.repeat(11 - label.length)}${text}`)
}
