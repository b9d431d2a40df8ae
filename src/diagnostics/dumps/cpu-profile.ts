import { writeFile } from 'node:fs/promises'
import type { Session } from 'node:inspector'
import { TrackerError } from '../../model/errors.js'
import { runExclusively } from './run-exclusively.js'

let endEarly: (() => void) | null = null

/** Ends the running profile early. Called when the tracker shuts down. */
export function endProfile(): void {
  endEarly?.()
}

/** Records a CPU profile for the given duration. Uses an inspector session of this thread, so no port is opened. */
export async function writeCpuProfile(path: string, durationMs: number): Promise<void> {
  await runExclusively('a CPU profile', async () => {
    const session = await connect()
    try {
      await post(session, 'Profiler.enable')
      await post(session, 'Profiler.start')
      await waitFor(durationMs)
      const { profile } = await post(session, 'Profiler.stop')
      await writeFile(path, JSON.stringify(profile), { mode: 0o600, flag: 'wx' })
    } finally {
      endEarly = null
      session.disconnect()
    }
  })
}

async function connect(): Promise<Session> {
  try {
    const { Session } = await import('node:inspector')
    const session = new Session()
    session.connect()
    return session
  } catch (cause) {
    throw new TrackerError(
      'not_possible_now',
      `Cannot profile this process: ${(cause as Error).message}. Node.js was built or started without the inspector.`,
      { cause },
    )
  }
}

/** Keeps the process alive, so that a script does not exit before the profile is written. */
function waitFor(durationMs: number): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, durationMs)
    endEarly = () => {
      clearTimeout(timer)
      resolve()
    }
  })
}

function post(session: Session, method: 'Profiler.enable' | 'Profiler.start' | 'Profiler.stop') {
  return new Promise<{ profile?: unknown }>((resolve, reject) => {
    session.post(method, (error: Error | null, result?: object) => (error ? reject(error) : resolve(result ?? {})))
  })
}
