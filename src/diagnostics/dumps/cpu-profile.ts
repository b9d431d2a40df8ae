import { writeFile } from 'node:fs/promises'
import type { Session } from 'node:inspector'
import { TrackerError } from '../../model/errors.js'
import { oneAtATime } from './one-at-a-time.js'

/** Ends the profile that is being taken, should the tracker be shut down meanwhile. */
let endEarly: (() => void) | null = null

export function endProfile(): void {
  endEarly?.()
}

/**
 * Writes what the process spends its time on for so long. The inspector is asked in this very thread, and no port is
 * opened for it. A shutdown of the tracker ends it early.
 */
export async function writeCpuProfile(path: string, milliseconds: number): Promise<void> {
  await oneAtATime('a CPU profile', async () => {
    const session = await connected()
    try {
      await asked(session, 'Profiler.enable')
      await asked(session, 'Profiler.start')
      await elapsed(milliseconds)
      const { profile } = await asked(session, 'Profiler.stop')
      await writeFile(path, JSON.stringify(profile), { mode: 0o600, flag: 'wx' })
    } finally {
      endEarly = null
      session.disconnect()
    }
  })
}

async function connected(): Promise<Session> {
  try {
    const { Session } = await import('node:inspector')
    const session = new Session()
    session.connect()
    return session
  } catch (cause) {
    throw new TrackerError(
      'not_possible_now',
      `This process cannot be profiled: ${(cause as Error).message}. Node.js was built or started without its inspector.`,
      { cause },
    )
  }
}

/** It holds the process: somebody awaits the profile, and a script must not end before it is written. */
function elapsed(milliseconds: number): Promise<void> {
  return new Promise((done) => {
    const timer = setTimeout(done, milliseconds)
    endEarly = () => {
      clearTimeout(timer)
      done()
    }
  })
}

function asked(session: Session, method: 'Profiler.enable' | 'Profiler.start' | 'Profiler.stop') {
  return new Promise<{ profile?: unknown }>((settle, refuse) => {
    session.post(method, (error: Error | null, answer?: object) => (error ? refuse(error) : settle(answer ?? {})))
  })
}
