import { TrackerError } from '../../model/errors.js'

let busy: string | null = null

/** A process can be profiled, or its heap written down, once at a time: the rest of it must go on. */
export async function oneAtATime<T>(what: string, work: () => Promise<T>): Promise<T> {
  if (busy !== null) {
    throw new TrackerError('not_possible_now', `This process is busy with ${busy}. Try again when that is done.`)
  }
  busy = what
  try {
    return await work()
  } finally {
    busy = null
  }
}
