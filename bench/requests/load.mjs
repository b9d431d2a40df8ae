import { fork } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'

/** Starts a process that sends requests, so that this process measures only the host. */
export function startLoad() {
  const child = fork(fileURLToPath(new URL('load-child.mjs', import.meta.url)), { stdio: 'inherit' })
  return {
    /** Returns the CPU time of this process in microseconds per request. */
    async micros(server, requests) {
      const before = process.cpuUsage()
      child.send({ port: server.address().port, requests })
      await once(child, 'message')
      const { user, system } = process.cpuUsage(before)
      return (user + system) / requests
    },
    stop: () => child.disconnect(),
  }
}
