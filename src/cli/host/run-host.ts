import { createServer } from 'node:http'
import type { TrackerInstance } from '../../tracker.js'
import { print } from '../io/terminal.js'
import { type Endpoint, listen, stopListening } from './listen.js'
import { sampleApp } from './sample-app.js'
import { aborted } from './stop-signal.js'

export interface HostOptions {
  tracker: TrackerInstance
  endpoint: Endpoint
  stop: AbortSignal
  /** Work to do before the URL is printed, while the port is already in use. */
  prepare?: () => Promise<void>
  /** Additional lines below the URL. */
  notes: readonly (readonly [label: string, text: string])[]
}

/** Serves the sample application and the dashboard, prints the URLs, and runs until stopped. */
export async function runHost({ tracker, endpoint, stop, prepare, notes }: HostOptions): Promise<void> {
  const server = createServer(sampleApp(tracker))
  const address = await listen(server, endpoint)
  await prepare?.()
  const { mount_path, dashboard_username } = tracker.config
  const lines = [
    ['Dashboard', `${address}${mount_path}`],
    ['User', dashboard_username],
    ...notes,
    ['Try it', `${address}/ has routes that fail`],
  ] as const
  print('Faultboard is running. Press Ctrl+C to stop.\n')
  for (const [label, text] of lines) print(`  ${label.padEnd(10)} ${text}`)
  await aborted(stop)
  print('Stopping.')
  await stopListening(server)
}
