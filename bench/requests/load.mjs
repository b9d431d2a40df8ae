import { fork } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'

/** A process that makes requests, so that only the host's own work is measured in this one. */
export function startLoad() {
  const child = fork(fileURLToPath(new URL('load-child.mjs', import.meta.url)), { stdio: 'inherit' })
  return {
    /** Processor time of this process, in microseconds for each of so many requests. */
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
