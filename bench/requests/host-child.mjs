// Runs variants of a host, and reports the CPU time of the process on request.
import { receiveTask } from '../harness/child.mjs'
import { HOSTS } from './hosts.mjs'
import { VARIANTS } from './variants.mjs'

const { framework, variants } = await receiveTask()
const parts = []
for (const variant of variants) parts.push(await VARIANTS[variant](framework))
const servers = await HOSTS[framework](parts)
// An idle connection must survive the bursts of the other hosts.
for (const server of servers) server.keepAliveTimeout = 0
process.on('message', () => {
  const { user, system } = process.cpuUsage()
  process.send(user + system)
})
process.on('disconnect', () => process.exit())
process.send({ ports: servers.map((server) => server.address().port) })
