import { TrackerError } from '../../model/errors.js'

let currentTask: string | null = null

/** Rejects a CPU profile or heap snapshot while another one runs in this process. */
export async function runExclusively<T>(task: string, run: () => Promise<T>): Promise<T> {
  if (currentTask !== null) {
    throw new TrackerError(
      'not_possible_now',
      `This process is already capturing ${currentTask}. Try again when it is finished.`,
    )
  }
  currentTask = task
  try {
    return await run()
  } finally {
    currentTask = null
  }
}
