import { fork } from 'node:child_process'
import { once } from 'node:events'

/** Starts a file of the bench in its own process and sends its task, if any. */
export function startChild(file, task, { flags = [] } = {}) {
  const child = fork(file, { execArgv: flags, stdio: ['ignore', 'inherit', 'inherit', 'ipc'] })
  if (task) child.send(task)
  return child
}

/** Resolves to the next message of a child. Rejects if the child exits without a message. */
export async function nextMessage(child) {
  const ended = new AbortController()
  try {
    return await Promise.race([
      once(child, 'message', { signal: ended.signal }).then(([message]) => message),
      once(child, 'exit', { signal: ended.signal }).then(([code, signal]) => {
        throw new Error(`${child.spawnargs.at(-1)} exited with ${signal ?? code} without a result`)
      }),
    ])
  } finally {
    ended.abort()
  }
}

/** Runs a file of the bench and returns its result. */
export async function runChild(file, task, options) {
  const child = startChild(file, task, options)
  const exited = once(child, 'exit')
  const result = await nextMessage(child)
  await exited
  return result
}

/** Receives the task in the child process. */
export async function receiveTask() {
  const [message] = await once(process, 'message')
  return message
}

/** Sends the result and disconnects, so that the process can exit. */
export function sendResult(message) {
  process.send(message, () => process.disconnect())
}
