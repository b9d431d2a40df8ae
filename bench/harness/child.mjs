import { fork } from 'node:child_process'
import { once } from 'node:events'

/** Starts a file of the bench as a process of its own and hands it its task. */
export function startChild(file, task, { flags = [] } = {}) {
  const child = fork(file, { execArgv: flags, stdio: ['ignore', 'inherit', 'inherit', 'ipc'] })
  child.send(task)
  return child
}

/** The next message of a child, or an error when it ends without one. */
export async function messageOf(child) {
  const ended = new AbortController()
  try {
    return await Promise.race([
      once(child, 'message', { signal: ended.signal }).then(([message]) => message),
      once(child, 'exit', { signal: ended.signal }).then(([code, signal]) => {
        throw new Error(`${child.spawnargs.at(-1)} ended with ${signal ?? code} before it answered`)
      }),
    ])
  } finally {
    ended.abort()
  }
}

/** Runs a file of the bench to its end and gives what it answers. */
export async function askChild(file, task, options) {
  const child = startChild(file, task, options)
  const exited = once(child, 'exit')
  const answer = await messageOf(child)
  await exited
  return answer
}

/** The other side: the task of this process. */
export async function task() {
  const [message] = await once(process, 'message')
  return message
}

/** Answers and lets go of the channel, so that the process can end by itself. */
export function answer(message) {
  process.send(message, () => process.disconnect())
}
